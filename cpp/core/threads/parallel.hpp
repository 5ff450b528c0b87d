// Divides work into small tasks, runs them on several threads, and appends their results in
// order.
//
// The threads end with the call. There is no thread pool, so a fork() between two calls loses
// no threads. Only the calling thread runs on_progress and check_interrupt, which may enter
// Python.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace pretok {

// The number of threads and the size of tasks for an amount of work.
struct TaskPlan {
  unsigned threads;
  std::size_t task_size; // in the unit of the `size` of plan_tasks; 0: one task
};

// Plans work of `size` bytes, or of `size` code units, which count as bytes. If
// `requested_threads` is 0, plans one thread per processor, or fewer for little work.
TaskPlan plan_tasks(std::size_t size, unsigned requested_threads);

// Sets the size of all tasks, for tests; 0 restores the default. Returns the previous value.
std::size_t set_task_size(std::size_t size);

// Passes results from worker threads to the calling thread, which takes them in order. Workers
// finish tasks in any order:
//
//   task     0       1       2             3       4         5
//   state    taken   taken   running       ready   running   not started
//                            next_taken_                     next_task_
template <typename Result> class ResultQueue {
public:
  // At most `max_ahead` tasks are started while their results are not yet taken. This limit
  // bounds the memory.
  ResultQueue(std::size_t tasks, std::size_t max_ahead)
      : max_ahead_(max_ahead), ready_(tasks) {}

  std::size_t tasks() const { return ready_.size(); }

  // Returns the next task to start, or tasks() if all tasks are started. If the limit
  // `max_ahead` is reached, waits if `wait` is true, and otherwise returns tasks().
  std::size_t next(bool wait) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (wait)
      may_start_.wait(lock,
                      [this] { return stopped_ || next_task_ < next_taken_ + max_ahead_; });
    const bool is_available =
        !stopped_ && next_task_ < tasks() && next_task_ < next_taken_ + max_ahead_;
    return is_available ? next_task_++ : tasks();
  }

  // Returns an empty result for a task to fill.
  std::unique_ptr<Result> spare() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (spare_.empty())
      return std::make_unique<Result>();
    auto result = std::move(spare_.back());
    spare_.pop_back();
    return result;
  }
  // Keeps an empty result for a later call of spare().
  void recycle(std::unique_ptr<Result> empty) {
    const std::lock_guard<std::mutex> lock(mutex_);
    spare_.push_back(std::move(empty));
  }

  // Stores the result of a task until take() returns it.
  void put(std::size_t task, std::unique_ptr<Result> result) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ready_[task] = std::move(result);
    if (task == next_taken_)
      result_ready_.notify_one();
  }

  // Returns the next result in order. Returns nullptr if this result is not ready within
  // `time`, or after stop().
  std::unique_ptr<Result> take(std::chrono::milliseconds time) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto is_available = [this] {
      return next_taken_ < tasks() && ready_[next_taken_] != nullptr;
    };
    if (time.count() != 0)
      result_ready_.wait_for(lock, time, [&] { return stopped_ || is_available(); });
    if (stopped_ || !is_available())
      return nullptr;
    auto result = std::move(ready_[next_taken_++]);
    may_start_.notify_all();
    return result;
  }

  // Returns whether all results are taken, or stop() was called.
  bool is_done() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stopped_ || next_taken_ == tasks();
  }

  // Ends the work: no more tasks start. Keeps the first `failure` that is not null.
  void stop(std::exception_ptr failure) {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    if (failure_ == nullptr)
      failure_ = std::move(failure);
    may_start_.notify_all();
    result_ready_.notify_all();
  }
  // Rethrows the failure, if any. Call it only after all other threads have ended.
  void rethrow() const {
    if (failure_ != nullptr)
      std::rethrow_exception(failure_);
  }

private:
  const std::size_t max_ahead_;
  std::mutex mutex_;
  std::condition_variable may_start_;    // a thread may start its next task
  std::condition_variable result_ready_; // the next result in order is ready
  std::vector<std::unique_ptr<Result>> ready_;
  std::vector<std::unique_ptr<Result>> spare_;
  std::size_t next_task_ = 0;
  std::size_t next_taken_ = 0;
  bool stopped_ = false;
  std::exception_ptr failure_;
};

// Threads of one call. The destructor joins them.
class HelperThreads {
public:
  HelperThreads() = default;
  HelperThreads(const HelperThreads &) = delete;
  HelperThreads &operator=(const HelperThreads &) = delete;
  ~HelperThreads() { join(); }

  // Starts up to `count` threads that call `loop`. If the system refuses a thread, or memory
  // for the thread, the threads that already run do all the work.
  template <typename Loop> void start(std::size_t count, const Loop &loop) {
    try {
      while (threads_.size() < count)
        threads_.emplace_back(loop);
    } catch (const std::system_error &) {
    } catch (const std::bad_alloc &) {
    }
  }
  void join() {
    for (std::thread &thread : threads_)
      thread.join();
    threads_.clear();
  }

private:
  std::vector<std::thread> threads_;
};

// Appends the results of `tasks` tasks to `total`, in order. Calls these functions:
//   make_worker()               once on each thread: returns the state that the thread keeps
//                               between tasks;
//   work(task, worker, result)  adds the result of a task to `result`;
//   on_progress(total)          on the calling thread, after each appended result; if
//                               on_progress returns false, the work stops;
//   check_interrupt()           on the calling thread, every few milliseconds;
//   Result::append(other)       leaves `other` empty.
// If any of these functions throws, the work stops, and run_in_order rethrows the exception.
template <typename Result, typename MakeWorker, typename Work, typename OnProgress,
          typename InterruptCheck>
void run_in_order(std::size_t tasks, unsigned threads, Result &total, MakeWorker make_worker,
                  Work work, OnProgress on_progress, InterruptCheck check_interrupt) {
  if (threads <= 1 || tasks <= 1) {
    auto worker = make_worker();
    for (std::size_t task = 0; task < tasks; ++task) {
      work(task, worker, total);
      if (!on_progress(total))
        return;
      check_interrupt();
    }
    return;
  }
  // The threads may be this many tasks ahead of the results that are appended to `total`.
  const std::size_t max_ahead = 16 + std::size_t{threads} * 4;
  ResultQueue<Result> queue(tasks, max_ahead);
  constexpr bool WAIT = true;
  const auto run_task = [&](std::size_t task, auto &worker) {
    auto result = queue.spare();
    work(task, worker, *result);
    queue.put(task, std::move(result));
  };
  HelperThreads helpers;
  try {
    helpers.start((threads < tasks ? threads : tasks) - 1, [&] {
      try {
        auto worker = make_worker();
        for (std::size_t task = queue.next(WAIT); task != tasks; task = queue.next(WAIT))
          run_task(task, worker);
      } catch (...) {
        queue.stop(std::current_exception());
      }
    });
    auto worker = make_worker();
    std::chrono::milliseconds timeout(0);
    while (!queue.is_done()) {
      while (auto result = queue.take(timeout)) {
        timeout = timeout.zero();
        total.append(*result);
        queue.recycle(std::move(result));
        if (!on_progress(total))
          queue.stop(nullptr);
        check_interrupt();
      }
      const std::size_t task = queue.next(!WAIT);
      if (task != tasks)
        run_task(task, worker);
      else // No task can start now, so wait for the next result.
        timeout = std::chrono::milliseconds(20);
      check_interrupt();
    }
  } catch (...) {
    queue.stop(std::current_exception());
  }
  helpers.join();
  queue.rethrow();
}

} // namespace pretok
