// Threads and interruption: one loop over independent tasks, joined before it returns.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "function_ref.hpp"

namespace baytree {

struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// Bytes from what one thread writes to all the time to what another does: a line of the cache that both wrote to would
// go back and forth, and processors fetch two at once.
inline constexpr std::size_t kApart = 128;

class Workers;

// Asks the caller (Python's signal handlers, say) now and then whether to stop, and watches the time. Only the thread
// that entered the core may ask; the others see the flag.
class Interrupt {
 public:
  explicit Interrupt(std::function<bool()> asked_to_stop);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool stopped() const { return stop_.load(std::memory_order_relaxed); }
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  void stop_after(double seconds);
  void ask();

  // Threads that nobody else has. They wait for the next that asks, so that loops within loops, of which each has its
  // own, do not start threads over and over.
  Workers& claim_workers();

  // The interrupt that this thread works under, so that loops deep inside need not be handed it; none outside.
  static Interrupt*& of_this_thread() {
    static thread_local Interrupt* current = nullptr;
    return current;
  }

 private:
  struct State;  // the question, the time, and the threads

  std::atomic<bool> stop_{false};
  std::unique_ptr<State> state_;
};

// For loops that may take long: ends them where somebody asked to stop. Cheap enough for every tenth of a millisecond.
void stop_if_asked();

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

// Calls run(task, worker) for every task in [0, n_tasks), on up to n_threads threads of which the
// caller is one. The order of tasks is free, so a task may write only what is its own.
void parallel_for(std::size_t n_tasks, std::size_t n_threads, Interrupt& interrupt,
                  FunctionRef<void(std::size_t task, std::size_t worker)> run);

namespace detail {

using AddTask = FunctionRef<void(void*)>;
void parallel_tasks(std::vector<void*> waiting, std::size_t n_threads, Interrupt& interrupt,
                    FunctionRef<void(void* task, std::size_t worker, AddTask add)> run,
                    FunctionRef<bool(const void*, const void*)> is_before);

}  // namespace detail

struct InOrderOfArrival {
  template <class Task>
  bool operator()(const Task*, const Task*) const {
    return false;
  }
};

// Calls run(task, worker, add) for the waiting tasks, the last ones first, and for those that add(task) adds meanwhile.
// They wait in an order: is_before(a, b) says that a comes before b.
template <class Task, class Run, class IsBefore = InOrderOfArrival>
void parallel_tasks(const std::vector<Task*>& waiting, std::size_t n_threads, Interrupt& interrupt, Run&& run,
                    IsBefore is_before = {}) {
  detail::parallel_tasks(
      {waiting.begin(), waiting.end()}, n_threads, interrupt,
      [&](void* task, std::size_t worker, detail::AddTask add) {
        run(static_cast<Task*>(task), worker, [add](Task* more) { add(more); });
      },
      [&](const void* a, const void* b) {
        return is_before(static_cast<const Task*>(a), static_cast<const Task*>(b));
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
