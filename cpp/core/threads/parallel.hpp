// Work shared out to threads in small tasks, the results of which are put together in order.
//
// The threads live only as long as the call: no pool, so forks are safe. What may ask the
// caller's interpreter for something happens on the calling thread.
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

// How work of so many bytes is shared out.
struct TaskPlan {
  unsigned threads;
  std::size_t task_size; // in bytes; 0: one task
};

// `requested_threads` is a number of threads, or 0: as many as there are processor_count, if it
// is worth it.
TaskPlan plan_tasks(std::size_t size, unsigned requested_threads);

// Makes all tasks as small as this, for tests; 0: of the usual sizes. Returns what it was.
std::size_t set_task_size(std::size_t size);

// Results on the way from the threads that make them to the one that puts them together.
template <typename Result> class ResultQueue {
public:
  // No thread gets further max_ahead of what is put together than `max_ahead`, which bounds
  // memory.
  ResultQueue(std::size_t tasks, std::size_t max_ahead)
      : max_ahead_(max_ahead), ready_(tasks) {}

  std::size_t tasks() const { return ready_.size(); }

  // Returns the next task, or tasks() if there is none, or, without `wait`, none yet.
  std::size_t next(bool wait) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (wait)
      may_start_.wait(lock,
                      [this] { return stopped_ || next_task_ < next_taken_ + max_ahead_; });
    const bool is_available =
        !stopped_ && next_task_ < tasks() && next_task_ < next_taken_ + max_ahead_;
    return is_available ? next_task_++ : tasks();
  }

  // Returns an empty result, to be filled.
  std::unique_ptr<Result> spare() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (spare_.empty())
      return std::make_unique<Result>();
    auto result = std::move(spare_.back());
    spare_.pop_back();
    return result;
  }
  void recycle(std::unique_ptr<Result> empty) {
    const std::lock_guard<std::mutex> lock(mutex_);
    spare_.push_back(std::move(empty));
  }

  void put(std::size_t task, std::unique_ptr<Result> result) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ready_[task] = std::move(result);
    if (task == next_taken_)
      result_ready_.notify_one();
  }

  // Returns the result that is next in order; nullptr if it is not there within `time`.
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

  bool is_done() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stopped_ || next_taken_ == tasks();
  }

  void stop(std::exception_ptr failure) {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    if (failure_ == nullptr)
      failure_ = std::move(failure);
    may_start_.notify_all();
    result_ready_.notify_all();
  }
  // To be called when no other thread is left.
  void rethrow() const {
    if (failure_ != nullptr)
      std::rethrow_exception(failure_);
  }

private:
  const std::size_t max_ahead_;
  std::mutex mutex_;
  std::condition_variable may_start_;    // a thread may go on
  std::condition_variable result_ready_; // the result that is next in order is there
  std::vector<std::unique_ptr<Result>> ready_;
  std::vector<std::unique_ptr<Result>> spare_;
  std::size_t next_task_ = 0;
  std::size_t next_taken_ = 0;
  bool stopped_ = false;
  std::exception_ptr failure_;
};

// Threads that are joined before this ends.
class Helpers {
public:
  Helpers() = default;
  Helpers(const Helpers &) = delete;
  Helpers &operator=(const Helpers &) = delete;
  ~Helpers() { join(); }

  // Starts up to `count` threads. If the system gives no more threads, or no memory for them,
  // the threads that run do all the work.
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

// Adds the results of `tasks` tasks to `total`, in order. A `Worker` is what a thread keeps
// from task to task: worker() makes one on its thread, and work(task, worker, result) adds a
// task to a result. on_progress(total), which says whether to go on, is called now and then by
// the calling thread, and so is check_interrupt(). What any of them throws stops the work and
// is thrown here. A Result has append(other), which leaves `other` empty.
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
  ResultQueue<Result> queue(tasks, 16 + std::size_t{threads} * 4);
  const auto run_task = [&](std::size_t task, auto &worker) {
    auto result = queue.spare();
    work(task, worker, *result);
    queue.put(task, std::move(result));
  };
  Helpers helpers;
  try {
    helpers.start((threads < tasks ? threads : tasks) - 1, [&] {
      try {
        auto worker = make_worker();
        for (std::size_t task = queue.next(true); task != tasks; task = queue.next(true))
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
      const std::size_t task = queue.next(false);
      if (task != tasks)
        run_task(task, worker);
      else // Others are at it.
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
