#include "parallel.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "workers.hpp"

namespace baytree {

using Clock = std::chrono::steady_clock;

struct Interrupt::State {
  std::function<bool()> asked;
  std::thread::id owner = std::this_thread::get_id();
  Clock::time_point last = Clock::now(), deadline = Clock::time_point::max();
  std::mutex workers_lock;
  std::deque<Workers> workers;
};

Interrupt::Interrupt(std::function<bool()> asked_to_stop) : state_(std::make_unique<State>()) {
  state_->asked = std::move(asked_to_stop);
}

Interrupt::~Interrupt() = default;

void Interrupt::stop_after(double seconds) {
  constexpr double longest = 1e8;
  state_->deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(std::min(seconds, longest)));
}

void Interrupt::ask() {
  State& s = *state_;
  if (std::this_thread::get_id() != s.owner) return;
  const auto now = Clock::now();
  if (now >= s.deadline) stop();
  if (now - s.last < std::chrono::milliseconds(50)) return;
  s.last = now;
  if (s.asked && s.asked()) stop();
}

Workers& Interrupt::claim_workers() {
  const std::lock_guard<std::mutex> guard(state_->workers_lock);
  for (Workers& workers : state_->workers)
    if (workers.claim()) return workers;
  state_->workers.emplace_back().claim();
  return state_->workers.back();
}

void stop_if_asked() {
  Interrupt* interrupt = Interrupt::of_this_thread();
  if (interrupt == nullptr) return;
  interrupt->ask();
  if (interrupt->stopped()) throw Interrupted();
}

namespace {

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

}  // namespace

void parallel_for(std::size_t n_tasks, std::size_t n_threads, Interrupt& interrupt,
                  FunctionRef<void(std::size_t, std::size_t)> run) {
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

namespace detail {

void parallel_tasks(std::vector<void*> waiting, std::size_t n_threads, Interrupt& interrupt,
                    FunctionRef<void(void*, std::size_t, AddTask)> run,
                    FunctionRef<bool(const void*, const void*)> is_before) {
  std::stable_sort(waiting.begin(), waiting.end(), is_before);
  std::mutex lock;
  std::condition_variable changed;
  std::size_t n_running = 0;
  bool failed = false;
  auto add = [&](void* task) {
    const std::lock_guard<std::mutex> guard(lock);
    waiting.insert(std::upper_bound(waiting.begin(), waiting.end(), task, is_before), task);
    changed.notify_one();
  };
  auto take = [&]() -> void* {
    std::unique_lock<std::mutex> guard(lock);
    while (waiting.empty() && n_running > 0 && !failed && !interrupt.stopped()) {
      changed.wait_for(guard, std::chrono::milliseconds(20));
      interrupt.ask();
    }
    if (waiting.empty() || failed || interrupt.stopped()) return nullptr;
    void* task = waiting.back();
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
      void* task = take();
      if (!task) return;
      try {
        run(task, worker, add);
      } catch (...) {
        finish(true);
        throw;
      }
      finish(false);
      interrupt.ask();
    }
  });
}

}  // namespace detail

}  // namespace baytree
