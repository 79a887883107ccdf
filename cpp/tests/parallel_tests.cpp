// parallel.hpp.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "harness.hpp"
#include "interrupts.hpp"
#include "parallel.hpp"

namespace baytree::tests {

namespace {

void every_task_runs_once() {
  for (std::size_t n_threads = 0; n_threads <= 8; ++n_threads)
    for (const std::size_t n_tasks : {0, 1, 2, 3, 7, 8, 9, 100, 1000}) {
      const During during(n_threads, " threads, ", n_tasks, " tasks");
      Interrupt interrupt = never_asked();
      // Not atomic on purpose: a task that ran twice, or two workers of one number, are races for -fsanitize=thread.
      std::vector<int> runs(n_tasks), of_worker(std::max<std::size_t>(n_threads, 1));
      std::vector<std::thread::id> thread_of_task(n_tasks);
      std::vector<std::size_t> worker_of_task(n_tasks);
      parallel_for(n_tasks, n_threads, interrupt, [&](std::size_t task, std::size_t worker) {
        ++runs.at(task);
        ++of_worker.at(worker);
        worker_of_task[task] = worker;
        thread_of_task[task] = std::this_thread::get_id();
      });
      check_equal(runs, std::vector<int>(n_tasks, 1));
      for (std::size_t task = 0; task < n_tasks; ++task)
        check_equal(worker_of_task[task] == 0, thread_of_task[task] == std::this_thread::get_id());
    }
}

// The threads of an interrupt are used again, and a loop within a task has others.
void loops_share_threads() {
  Interrupt interrupt = never_asked();
  std::set<std::thread::id> outer;
  std::mutex lock;
  for (std::size_t repeat = 0; repeat < 30; ++repeat) {
    const std::size_t n_threads = 2 + repeat % 3;
    std::vector<std::size_t> product(64);
    parallel_for(8, n_threads, interrupt, [&](std::size_t i, std::size_t) {
      {
        const std::lock_guard<std::mutex> guard(lock);
        outer.insert(std::this_thread::get_id());
      }
      parallel_for(8, 1 + repeat % 4, interrupt, [&](std::size_t j, std::size_t) { product[8 * i + j] = i * j; });
    });
    for (std::size_t k = 0; k < product.size(); ++k) check_equal(product[k], (k / 8) * (k % 8));
  }
  check(outer.size() <= 4, "the same threads work again");
}

// Tasks are pointers to their sizes.
std::vector<int> sizes_up_to(int size) {
  std::vector<int> sizes(static_cast<std::size_t>(size) + 1);
  std::iota(sizes.begin(), sizes.end(), 0);
  return sizes;
}

// A task of size s leaves tasks of size s - 1, s - 2, ..., 0: there are 2^s of them.
void tasks_add_tasks() {
  std::vector<int> sizes = sizes_up_to(10);
  for (std::size_t n_threads = 0; n_threads <= 8; ++n_threads)
    for (const int size : {0, 1, 5, 10}) {
      const During during(n_threads, " threads, size ", size);
      Interrupt interrupt = never_asked();
      std::atomic<int> n_run{0};
      std::vector<int> of_worker(std::max<std::size_t>(n_threads, 1));  // not atomic on purpose, as above
      int* first = &sizes[static_cast<std::size_t>(size)];
      parallel_tasks(std::vector<int*>{first, first}, n_threads, interrupt,
                     [&](int* task, std::size_t worker, auto&& add) {
                       ++n_run;
                       ++of_worker.at(worker);
                       for (int* smaller = sizes.data(); smaller < task; ++smaller) add(smaller);
                     });
      check_equal(n_run.load(), 2 << size);
    }
  Interrupt interrupt = never_asked();
  parallel_tasks(std::vector<int*>{}, 3, interrupt,
                 [](int*, std::size_t, auto&&) { check(false, "there are no tasks"); });
}

void a_failing_task_ends_all() {
  std::vector<int> sizes = sizes_up_to(21);
  for (std::size_t n_threads = 1; n_threads <= 8; ++n_threads) {
    const During during(n_threads, " threads");
    Interrupt interrupt = never_asked();
    const std::string message = check_throws<std::invalid_argument>([&] {
      parallel_tasks(std::vector<int*>{sizes.data()}, n_threads, interrupt, [&](int* task, std::size_t, auto&& add) {
        if (*task == 20) throw std::invalid_argument("bad task");
        add(task + 1), add(task + 1);
      });
    });
    check_equal(message, "bad task");
    Interrupt stopped = never_asked();
    check_throws<Interrupted>([&] {
      parallel_tasks(std::vector<int*>{sizes.data()}, n_threads, stopped, [&](int* task, std::size_t, auto&& add) {
        if (*task == 20) stopped.stop();
        add(task + 1);
      });
    });
  }
}

void blocks_cover_everything_once() {
  for (const std::size_t n : {0, 1, 100, 20000, 100000})
    for (std::size_t n_threads = 0; n_threads <= 8; ++n_threads) {
      const During during(n, " in blocks for ", n_threads, " threads");
      Interrupt interrupt = never_asked();
      const Blocks blocks(n, n_threads, interrupt);
      check(blocks.size() >= 1 && blocks.size() <= std::max<std::size_t>(n_threads, 1), "a block for each thread");
      std::vector<int> seen(n), shared(n);
      blocks.each([&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++seen[i];
      });
      blocks.share(n, [&](std::size_t task) { ++shared[task]; });
      check_equal(seen, std::vector<int>(n, 1));
      check_equal(shared, seen);
    }
}

void exceptions_reach_the_caller() {
  for (std::size_t n_threads = 1; n_threads <= 8; ++n_threads)
    for (const std::size_t n_tasks : {1, 5, 200}) {
      const During during(n_threads, " threads, ", n_tasks, " tasks");
      Interrupt interrupt = never_asked();
      const std::size_t bad_task = n_tasks / 2;
      std::atomic<std::size_t> n_run{0};
      const std::string message = check_throws<std::invalid_argument>([&] {
        parallel_for(n_tasks, n_threads, interrupt, [&](std::size_t task, std::size_t) {
          ++n_run;
          if (task == bad_task) throw std::invalid_argument("bad task");
        });
      });
      check_equal(message, "bad task");
      if (n_threads == 1) check_equal(n_run.load(), bad_task + 1);
      // All at once: one of them arrives, the others are dropped.
      check_throws<std::runtime_error>([&] {
        parallel_for(n_tasks, n_threads, interrupt,
                     [](std::size_t, std::size_t) { throw std::runtime_error("every task"); });
      });
    }
}

// Long tasks, so that the others cannot all be done before the first one has failed.
void an_exception_ends_the_loop() {
  constexpr std::size_t n_tasks = 500;
  Interrupt interrupt = never_asked();
  std::atomic<std::size_t> n_run{0};
  check_throws<std::runtime_error>([&] {
    parallel_for(n_tasks, 2, interrupt, [&](std::size_t task, std::size_t) {
      ++n_run;
      if (task == 0) throw std::runtime_error("the first task");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  });
  check(n_run < n_tasks, "tasks are left over");
}

void a_stop_ends_the_loop() {
  for (std::size_t n_threads = 1; n_threads <= 8; ++n_threads) {
    const During during(n_threads, " threads");
    constexpr std::size_t n_tasks = 100'000, last = 100;
    Interrupt interrupt = never_asked();
    std::atomic<std::size_t> n_run{0};
    auto count = [&](std::size_t task, std::size_t) {
      ++n_run;
      if (task == last) interrupt.stop();
    };
    check_throws<Interrupted>([&] { parallel_for(n_tasks, n_threads, interrupt, count); });
    if (n_threads == 1) check_equal(n_run.load(), last + 1);
    // It stays stopped: the next loop does not start.
    n_run = 0;
    check_throws<Interrupted>([&] { parallel_for(n_tasks, n_threads, interrupt, count); });
    check_equal(n_run.load(), 0);
  }
}

// Tasks of 5 ms on four threads: each time a question is due, any of them could be the first to come by.
void the_caller_is_asked_and_nobody_else() {
  std::atomic<std::size_t> n_asked{0}, n_others{0};
  Interrupt interrupt([&, caller = std::this_thread::get_id()] {
    ++n_asked;
    n_others += std::this_thread::get_id() != caller;
    return false;
  });
  parallel_for(240, 4, interrupt,
               [](std::size_t, std::size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  check(n_asked > 0, "somebody was asked");
  check_equal(n_others.load(), 0);
}

// With one task the caller has it, so that the question is sure to be asked.
void the_answer_decides() {
  for (const std::size_t n_threads : {1, 4}) {
    const During during(n_threads, " threads");
    int n_asked = 0;
    Interrupt interrupt([&] { return ++n_asked == 2; });
    auto run = [&](std::size_t n_tasks) {
      parallel_for(n_tasks, n_threads, interrupt, [](std::size_t, std::size_t) {});
    };
    wait_for_the_next_question();
    run(1);  // asked, and told to go on
    check_equal(n_asked, 1);
    wait_for_the_next_question();
    check_throws<Interrupted>([&] { run(1); });
    check_equal(n_asked, 2);
  }
}

// Asking may take Python's lock, so it must be rare.
void questions_are_rare() {
  const auto start = std::chrono::steady_clock::now();
  std::int64_t n_asked = 0;
  Interrupt interrupt([&] { return ++n_asked < 0; });
  parallel_for(100'000, 1, interrupt, [](std::size_t, std::size_t) {});
  const auto taken = std::chrono::steady_clock::now() - start;
  check(n_asked <= taken / std::chrono::milliseconds(50), "asked at most once in 50 ms");
}

void an_exception_from_the_question_reaches_the_caller() {
  Interrupt interrupt([]() -> bool { throw std::domain_error("from the question"); });
  wait_for_the_next_question();
  const std::string message = check_throws<std::domain_error>(
      [&] { parallel_for(1, 3, interrupt, [](std::size_t, std::size_t) {}); });
  check_equal(message, "from the question");
}

const Suite suite{{
    {"every task runs once", every_task_runs_once},
    {"exceptions reach the caller", exceptions_reach_the_caller},
    {"an exception ends the loop", an_exception_ends_the_loop},
    {"a stop ends the loop", a_stop_ends_the_loop},
    {"loops share threads", loops_share_threads},
    {"tasks add tasks", tasks_add_tasks},
    {"a failing task ends all", a_failing_task_ends_all},
    {"blocks cover everything once", blocks_cover_everything_once},
    {"the caller is asked and nobody else", the_caller_is_asked_and_nobody_else},
    {"the answer decides", the_answer_decides},
    {"questions are rare", questions_are_rare},
    {"an exception from the question reaches the caller", an_exception_from_the_question_reaches_the_caller},
}};

}  // namespace

}  // namespace baytree::tests
