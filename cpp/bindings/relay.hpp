// Work that threads share, and that one of them finishes with the interpreter's lock.
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace pretok {

// Calls make(i) once for each i below `count`, in order, on up to `threads` threads, and then
// finish(i) on the calling thread, which has the interpreter's lock for that. It makes
// something itself when there is nothing to finish. If make(i) returns false, no later i is
// begun, and none but those before it are sure to be finished. Rethrows one of the exceptions
// that were thrown, if any, when all threads have ended.
template <typename Make, typename Finish> class Relay {
public:
  Relay(std::size_t count, Make make, Finish finish)
      : limit_(count), make_(std::move(make)), finish_(std::move(finish)) {}
  Relay(const Relay &) = delete;
  Relay &operator=(const Relay &) = delete;

  void run(unsigned threads) {
    const std::size_t wanted = std::min<std::size_t>(threads, limit_.load());
    std::vector<std::thread> helpers;
    try {
      start(helpers, wanted);
      while (step()) {
      }
    } catch (...) {
      fail();
    }
    {
      const pybind11::gil_scoped_release released;
      for (std::thread &helper : helpers)
        helper.join();
    }
    if (failure_)
      std::rethrow_exception(failure_);
  }

private:
  void start(std::vector<std::thread> &helpers, std::size_t wanted) {
    try {
      for (std::size_t i = 1; i < wanted; ++i) {
        helpers.emplace_back([this] { help(); });
        const std::lock_guard<std::mutex> lock(mutex_);
        ++helping_;
      }
    } catch (const std::system_error &) {
      // The system gives no more threads: those there are do all the work.
    }
  }

  void help() {
    try {
      for (std::size_t i = next_++; i < limit_; i = next_++) {
        if (!make_(i))
          lower_limit(i);
        const std::lock_guard<std::mutex> lock(mutex_);
        made_.push_back(i);
        changed_.notify_one();
      }
    } catch (...) {
      fail();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    --helping_;
    changed_.notify_one();
  }

  // Makes or finishes one; returns false if nothing is left to do.
  bool step() {
    std::size_t i = 0;
    if (take_made(i)) {
      finish_(i);
      return true;
    }
    i = next_++;
    if (i < limit_) {
      bool whole = true;
      {
        const pybind11::gil_scoped_release released;
        whole = make_(i);
      }
      if (!whole)
        lower_limit(i);
      finish_(i);
      return true;
    }
    const pybind11::gil_scoped_release released;
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !made_.empty() || helping_ == 0; });
    return !made_.empty();
  }

  bool take_made(std::size_t &i) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (made_.empty())
      return false;
    i = made_.back();
    made_.pop_back();
    return true;
  }

  void lower_limit(std::size_t to) {
    std::size_t now = limit_;
    while (to < now && !limit_.compare_exchange_weak(now, to)) {
    }
  }

  void fail() {
    lower_limit(0);
    const std::lock_guard<std::mutex> lock(mutex_);
    failure_ = std::current_exception();
  }

  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> limit_;
  Make make_;
  Finish finish_;
  std::mutex mutex_; // of what is below
  std::condition_variable changed_;
  std::vector<std::size_t> made_;
  std::ptrdiff_t helping_ = 0; // a thread may end before it is counted
  std::exception_ptr failure_;
};

} // namespace pretok
