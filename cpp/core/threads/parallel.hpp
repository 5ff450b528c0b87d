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
struct Sharing {
  unsigned threads;
  std::size_t task; // how many bytes are a task; 0: all of them
};

// `asked` is a number of threads, or 0: as many as there are processors, if it is worth it.
Sharing share(std::size_t size, unsigned asked);

// Makes all tasks as small as this, for tests; 0: of the usual sizes. Returns what it was.
std::size_t set_task_size(std::size_t size);

// Results on the way from the threads that make them to the one that puts them together.
template <typename Result> class Queue {
public:
  // No thread gets further ahead of what is put together than `ahead`, which bounds memory.
  Queue(std::size_t tasks, std::size_t ahead) : ahead_(ahead), ready_(tasks) {}

  std::size_t tasks() const { return ready_.size(); }

  // Returns the next task, or tasks() if there is none, or, without `patient`, none yet.
  std::size_t next(bool patient) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (patient)
      turn_.wait(lock, [this] { return stopped_ || next_ < taken_ + ahead_; });
    const bool there_is = !stopped_ && next_ < tasks() && next_ < taken_ + ahead_;
    return there_is ? next_++ : tasks();
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
  void give_back(std::unique_ptr<Result> empty) {
    const std::lock_guard<std::mutex> lock(mutex_);
    spare_.push_back(std::move(empty));
  }

  void put(std::size_t task, std::unique_ptr<Result> result) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ready_[task] = std::move(result);
    if (task == taken_)
      made_.notify_one();
  }

  // Returns the result that is next in order; nullptr if it is not there within `time`.
  std::unique_ptr<Result> take(std::chrono::milliseconds time) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto there_is = [this] { return taken_ < tasks() && ready_[taken_] != nullptr; };
    if (time.count() != 0)
      made_.wait_for(lock, time, [&] { return stopped_ || there_is(); });
    if (stopped_ || !there_is())
      return nullptr;
    auto result = std::move(ready_[taken_++]);
    turn_.notify_all();
    return result;
  }

  bool is_done() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stopped_ || taken_ == tasks();
  }

  void stop(std::exception_ptr failure) {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    if (failure_ == nullptr)
      failure_ = std::move(failure);
    turn_.notify_all();
    made_.notify_all();
  }
  // To be called when no other thread is left.
  void rethrow() const {
    if (failure_ != nullptr)
      std::rethrow_exception(failure_);
  }

private:
  const std::size_t ahead_;
  std::mutex mutex_;
  std::condition_variable turn_; // a thread may go on
  std::condition_variable made_; // the result that is next in order is there
  std::vector<std::unique_ptr<Result>> ready_;
  std::vector<std::unique_ptr<Result>> spare_;
  std::size_t next_ = 0;
  std::size_t taken_ = 0;
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
// task to a result. settle(total), which says whether to go on, is called now and then by the
// calling thread, and so is pulse(). What any of them throws stops the work and is thrown here.
// A Result has append(other), which leaves `other` empty.
template <typename Result, typename Make, typename Work, typename Settle, typename Pulse>
void run_in_order(std::size_t tasks, unsigned threads, Result &total, Make make_worker,
                  Work work, Settle settle, Pulse pulse) {
  if (threads <= 1 || tasks <= 1) {
    auto worker = make_worker();
    for (std::size_t task = 0; task < tasks; ++task) {
      work(task, worker, total);
      if (!settle(total))
        return;
      pulse();
    }
    return;
  }
  Queue<Result> queue(tasks, 16 + std::size_t{threads} * 4);
  const auto make = [&](std::size_t task, auto &worker) {
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
          make(task, worker);
      } catch (...) {
        queue.stop(std::current_exception());
      }
    });
    auto worker = make_worker();
    std::chrono::milliseconds patience(0);
    while (!queue.is_done()) {
      while (auto result = queue.take(patience)) {
        patience = patience.zero();
        total.append(*result);
        queue.give_back(std::move(result));
        if (!settle(total))
          queue.stop(nullptr);
        pulse();
      }
      const std::size_t task = queue.next(false);
      if (task != tasks)
        make(task, worker);
      else // Others are at it.
        patience = std::chrono::milliseconds(20);
      pulse();
    }
  } catch (...) {
    queue.stop(std::current_exception());
  }
  helpers.join();
  queue.rethrow();
}

} // namespace pretok
