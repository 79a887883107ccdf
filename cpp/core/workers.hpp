// Threads that wait for work: a call of the core starts them once and not for every loop that it shares out.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace baytree {

class Workers {
 public:
  using Work = std::function<void(std::size_t)>;  // must not throw

  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();

  // Makes them those of one caller, until it sets them free; false: they are somebody else's.
  bool claim();
  void set_free();

  // Has work(1), ..., work(n) done, each on a thread of its own; `work` must live until all of it is done. Fewer are
  // done where no more threads start, so the caller must be able to do all there is to do.
  void start(std::size_t n, const Work& work);

  // Waits for a moment; whether all is done.
  bool wait(std::chrono::milliseconds moment);

 private:
  void wait_for_work(std::size_t index);

  std::mutex lock_;
  std::condition_variable wake_, is_done_;
  const Work* work_ = nullptr;
  std::size_t round_ = 0, n_wanted_ = 0, n_busy_ = 0;
  bool is_claimed_ = false, ends_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace baytree
