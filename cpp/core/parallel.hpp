// Threads and interruption: one loop over independent tasks, joined before it returns.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "workers.hpp"

namespace baytree {

struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// Asks the caller (Python's signal handlers, say) now and then whether to stop, and watches the time. Only the thread
// that entered the core may ask; the others see the flag.
class Interrupt {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Interrupt(std::function<bool()> asked_to_stop) : asked_(std::move(asked_to_stop)) {}

  bool stopped() const { return stop_.load(std::memory_order_relaxed); }
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  void stop_at(Clock::time_point deadline) { deadline_ = deadline; }

  // Threads that nobody else has. They wait for the next that asks, so that loops within loops, of which each has its
  // own, do not start threads over and over.
  Workers& claim_workers() {
    const std::lock_guard<std::mutex> guard(workers_lock_);
    for (Workers& workers : workers_)
      if (workers.claim()) return workers;
    workers_.emplace_back().claim();
    return workers_.back();
  }

  // The interrupt that this thread works under, so that loops deep inside need not be handed it; none outside.
  static Interrupt*& of_this_thread() {
    static thread_local Interrupt* own = nullptr;
    return own;
  }

  void ask() {
    if (std::this_thread::get_id() != owner_) return;
    const auto now = Clock::now();
    if (now >= deadline_) stop();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    if (asked_ && asked_()) stop();
  }

 private:
  std::function<bool()> asked_;
  std::thread::id owner_ = std::this_thread::get_id();
  std::atomic<bool> stop_{false};
  Clock::time_point last_ = Clock::now(), deadline_ = Clock::time_point::max();
  std::mutex workers_lock_;
  std::deque<Workers> workers_;
};

// For loops that may take long: ends them where somebody asked to stop. Cheap enough for every tenth of a millisecond.
inline void stop_if_asked() {
  Interrupt* own = Interrupt::of_this_thread();
  if (own == nullptr) return;
  own->ask();
  if (own->stopped()) throw Interrupted();
}

// Makes an interrupt that of this thread while it lives.
class WorksUnder {
 public:
  explicit WorksUnder(Interrupt& interrupt) : before_(std::exchange(Interrupt::of_this_thread(), &interrupt)) {}
  ~WorksUnder() { Interrupt::of_this_thread() = before_; }
  WorksUnder(const WorksUnder&) = delete;
  WorksUnder& operator=(const WorksUnder&) = delete;

 private:
  Interrupt* before_;
};

// Threads of an interrupt while this lives.
class ClaimedWorkers {
 public:
  explicit ClaimedWorkers(Interrupt& interrupt) : workers_(interrupt.claim_workers()) {}
  ~ClaimedWorkers() { workers_.set_free(); }
  ClaimedWorkers(const ClaimedWorkers&) = delete;
  ClaimedWorkers& operator=(const ClaimedWorkers&) = delete;
  Workers* operator->() { return &workers_; }

 private:
  Workers& workers_;
};

// Calls run(task, worker) for every task in [0, n_tasks), on up to n_threads threads of which the
// caller is one. The order of tasks is free, so a task may write only what is its own.
template <class Run>
void parallel_for(std::size_t n_tasks, std::size_t n_threads, Interrupt& interrupt, Run&& run) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;

  auto work = [&](std::size_t worker) {
    const WorksUnder here(interrupt);
    try {
      for (std::size_t task; !interrupt.stopped() && (task = next.fetch_add(1)) < n_tasks;) {
        run(task, worker);
        interrupt.ask();
      }
    } catch (...) {
      const std::lock_guard<std::mutex> guard(failure_lock);
      if (!failure) failure = std::current_exception();
      next.store(n_tasks);
    }
  };

  const std::size_t n_workers = std::clamp<std::size_t>(n_tasks, 1, std::max<std::size_t>(n_threads, 1));
  if (n_workers == 1) {
    work(0);
  } else {
    ClaimedWorkers workers(interrupt);
    const Workers::Work on_others(work);
    workers->start(n_workers - 1, on_others);
    work(0);
    while (!workers->wait(std::chrono::milliseconds(20))) interrupt.ask();  // the caller goes on asking
  }
  if (failure) std::rethrow_exception(failure);
  if (interrupt.stopped()) throw Interrupted();
}

struct InOrderOfArrival {
  template <class Task>
  bool operator()(const Task&, const Task&) const {
    return false;
  }
};

// Calls run(task, worker, add) for the waiting tasks, the last ones first, and for those that add(task) adds meanwhile.
// They wait in an order: is_before(a, b) says that a comes before b.
template <class Task, class Run, class IsBefore = InOrderOfArrival>
void parallel_tasks(std::vector<Task> waiting, std::size_t n_threads, Interrupt& interrupt, Run&& run,
                    IsBefore is_before = {}) {
  std::stable_sort(waiting.begin(), waiting.end(), is_before);
  std::mutex lock;
  std::condition_variable changed;
  std::size_t n_running = 0;
  bool failed = false;
  auto add = [&](Task task) {
    const std::lock_guard<std::mutex> guard(lock);
    waiting.insert(std::upper_bound(waiting.begin(), waiting.end(), task, is_before), std::move(task));
    changed.notify_one();
  };
  auto take = [&]() -> std::optional<Task> {
    std::unique_lock<std::mutex> guard(lock);
    while (waiting.empty() && n_running > 0 && !failed && !interrupt.stopped()) {
      changed.wait_for(guard, std::chrono::milliseconds(20));
      interrupt.ask();
    }
    if (waiting.empty() || failed) return {};
    std::optional<Task> task = std::move(waiting.back());
    waiting.pop_back();
    ++n_running;
    return task;
  };
  auto finish = [&](bool with_failure) {
    const std::lock_guard<std::mutex> guard(lock);
    --n_running;
    failed |= with_failure;
    changed.notify_all();
  };
  n_threads = std::max<std::size_t>(n_threads, 1);
  parallel_for(n_threads, n_threads, interrupt, [&](std::size_t, std::size_t worker) {
    while (!interrupt.stopped()) {
      std::optional<Task> task = take();
      if (!task) return;
      try {
        run(std::move(*task), worker, add);
      } catch (...) {
        finish(true);
        throw;
      }
      finish(false);
      interrupt.ask();
    }
  });
}

// Some rows, or whatever there are n of, as contiguous blocks of about equal size, one for each of some threads.
class Blocks {
 public:
  explicit Blocks(std::size_t n) : n_(n) {}  // one block, for the thread that asks
  Blocks(std::size_t n, std::size_t n_threads, Interrupt& interrupt)
      : n_(n), n_blocks_(std::clamp<std::size_t>(n_threads, 1, n / kFewest + 1)), interrupt_(&interrupt) {}

  std::size_t size() const { return n_blocks_; }
  std::size_t begin(std::size_t block) const { return block * n_ / n_blocks_; }

  // Calls run(block, begin, end) for all blocks.
  template <class Run>
  void each(Run&& run) const {
    if (n_blocks_ == 1) return run(std::size_t{0}, std::size_t{0}, n_);
    parallel_for(n_blocks_, n_blocks_, *interrupt_,
                 [&](std::size_t block, std::size_t) { run(block, begin(block), begin(block + 1)); });
  }

  // Calls run(task) for every task in [0, n_tasks), on as many threads as there are blocks; on one thread in order.
  template <class Run>
  void share(std::size_t n_tasks, Run&& run) const {
    if (n_blocks_ == 1)
      for (std::size_t task = 0; task < n_tasks; ++task) run(task);
    else parallel_for(n_tasks, n_blocks_, *interrupt_, [&](std::size_t task, std::size_t) { run(task); });
  }

 private:
  static constexpr std::size_t kFewest = 16384;  // in a block; fewer are not worth a thread

  std::size_t n_, n_blocks_ = 1;
  Interrupt* interrupt_ = nullptr;
};

// Threads that may share some work; by default the one that asks is alone.
struct Threads {
  std::size_t n = 1;
  Interrupt* interrupt = nullptr;

  Blocks blocks(std::size_t size) const { return n > 1 ? Blocks(size, n, *interrupt) : Blocks(size); }
};

}  // namespace baytree
