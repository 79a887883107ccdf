// Threads that wait for work: a call of the core starts them once and not for every loop that it shares out.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace baytree {

// Bytes from what one thread writes to all the time to what another does: a line of the cache that both wrote to would
// go back and forth, and processors fetch two at once.
inline constexpr std::size_t kApart = 128;

class Workers {
 public:
  using Work = std::function<void(std::size_t)>;  // must not throw

  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    {
      const std::lock_guard<std::mutex> guard(lock_);
      ends_ = true;
    }
    wake_.notify_all();
    threads_.clear();  // joins
  }

  // Makes them those of one caller, until it sets them free; false: they are somebody else's.
  bool claim() {
    const std::lock_guard<std::mutex> guard(lock_);
    return !std::exchange(is_claimed_, true);
  }
  void set_free() {
    const std::lock_guard<std::mutex> guard(lock_);
    is_claimed_ = false;
  }

  // Has work(1), ..., work(n) done, each on a thread of its own; `work` must live until all of it is done.
  void start(std::size_t n, const Work& work) {
    while (threads_.size() < n) threads_.emplace_back([this, own = threads_.size() + 1] { wait_for_work(own); });
    {
      const std::lock_guard<std::mutex> guard(lock_);
      work_ = &work;
      n_wanted_ = n_busy_ = n;
      ++round_;
    }
    wake_.notify_all();
  }

  // Waits for a moment; whether all is done.
  bool wait(std::chrono::milliseconds moment) {
    std::unique_lock<std::mutex> guard(lock_);
    return is_done_.wait_for(guard, moment, [&] { return n_busy_ == 0; });
  }

 private:
  void wait_for_work(std::size_t own) {
    std::size_t seen = 0;
    for (std::unique_lock<std::mutex> guard(lock_);;) {
      wake_.wait(guard, [&] { return ends_ || round_ != seen; });
      if (ends_) return;
      seen = round_;
      if (own > n_wanted_) continue;
      const Work& work = *work_;
      guard.unlock();
      work(own);
      guard.lock();
      if (--n_busy_ == 0) is_done_.notify_one();
    }
  }

  std::mutex lock_;
  std::condition_variable wake_, is_done_;
  const Work* work_ = nullptr;
  std::size_t round_ = 0, n_wanted_ = 0, n_busy_ = 0;
  bool is_claimed_ = false, ends_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace baytree
