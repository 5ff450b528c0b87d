// An object of the core that threads of Python share.
#pragma once

#include "bindings/convert.hpp"

#include <cstddef>
#include <mutex>
#include <utility>

namespace pretok {

template <typename Object> class Shared {
public:
  template <typename... Arguments>
  explicit Shared(Arguments &&...arguments) : object_(std::forward<Arguments>(arguments)...) {}

  // Returns work(object), while no other thread uses the object. `work` must not call Python.
  // Releases the GIL if `size` is large, and takes the lock only after that.
  template <typename Work> auto use(std::size_t size, Work work) const {
    return unlocked(size, [&] {
      const std::lock_guard<std::mutex> lock(mutex_);
      return work(object_);
    });
  }

private:
  mutable std::mutex mutex_;
  mutable Object object_;
};

} // namespace pretok
