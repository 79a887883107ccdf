#include "workers.hpp"

#include <system_error>
#include <utility>

namespace baytree {

Workers::~Workers() {
  {
    const std::lock_guard<std::mutex> guard(lock_);
    ends_ = true;
  }
  wake_.notify_all();
  threads_.clear();  // joins
}

bool Workers::claim() {
  const std::lock_guard<std::mutex> guard(lock_);
  return !std::exchange(is_claimed_, true);
}

void Workers::set_free() {
  const std::lock_guard<std::mutex> guard(lock_);
  is_claimed_ = false;
}

void Workers::start(std::size_t n, const Work& work) {
  try {
    while (threads_.size() < n) threads_.emplace_back([this, index = threads_.size() + 1] { wait_for_work(index); });
  } catch (const std::system_error&) {
    n = threads_.size();  // no memory for another thread: the caller does what the others would have done
  }
  {
    const std::lock_guard<std::mutex> guard(lock_);
    work_ = &work;
    n_wanted_ = n_busy_ = n;
    ++round_;
  }
  wake_.notify_all();
}

bool Workers::wait(std::chrono::milliseconds moment) {
  std::unique_lock<std::mutex> guard(lock_);
  return is_done_.wait_for(guard, moment, [&] { return n_busy_ == 0; });
}

void Workers::wait_for_work(std::size_t index) {
  std::size_t seen = 0;
  for (std::unique_lock<std::mutex> guard(lock_);;) {
    wake_.wait(guard, [&] { return ends_ || round_ != seen; });
    if (ends_) return;
    seen = round_;
    if (index > n_wanted_) continue;
    const Work& work = *work_;
    guard.unlock();
    work(index);
    guard.lock();
    if (--n_busy_ == 0) is_done_.notify_one();
  }
}

}  // namespace baytree
