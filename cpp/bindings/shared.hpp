// An object of the core that threads of Python share.
#pragma once

#include "bindings/convert.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <stdexcept>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace pretok {

// Returns the number of forks between the first process and this one.
inline unsigned count_forks() {
  static std::atomic<unsigned> forks{0};
#if defined(__unix__) || defined(__APPLE__)
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
#endif
  return forks.load(std::memory_order_relaxed);
}

template <typename Object> class Shared {
public:
  template <typename... Arguments>
  explicit Shared(Arguments &&...arguments) : object_(std::forward<Arguments>(arguments)...) {}

  // Returns work(object), while no other thread uses the object. `work` must not call Python.
  // Releases the GIL if `size` is large, and takes the lock only after that. In a forked child,
  // throws if another thread used the object during the fork: it may be half changed.
  template <typename Work> auto use(std::size_t size, Work work) const {
    return unlocked(size, [&] {
      std::unique_lock<std::timed_mutex> lock(mutex_, std::try_to_lock);
      while (!lock.owns_lock() && !lock.try_lock_for(std::chrono::seconds(1)))
        if (forks_.load(std::memory_order_relaxed) != count_forks())
          throw std::runtime_error(
              "another thread used this object while the process was forked; "
              "make a new one in the child");
      forks_.store(count_forks(), std::memory_order_relaxed);
      return work(object_);
    });
  }

private:
  mutable std::timed_mutex mutex_;
  mutable std::atomic<unsigned> forks_{count_forks()}; // at the last use
  mutable Object object_;
};

} // namespace pretok
