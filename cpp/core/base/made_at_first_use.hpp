// A value that its first use makes.
#pragma once

#include <atomic>
#include <memory>

namespace pretok {

// Threads may share it. It has no lock, since a lock could stay locked in a child process.
template <typename T> class MadeAtFirstUse {
public:
  MadeAtFirstUse() = default;
  MadeAtFirstUse(const MadeAtFirstUse &) = delete;
  MadeAtFirstUse &operator=(const MadeAtFirstUse &) = delete;
  ~MadeAtFirstUse() { delete value_.load(); }

  // Returns the value, which is *make() if there is none yet. `make` returns a std::unique_ptr.
  template <typename Make> const T &get(Make make) const {
    if (const T *value = value_.load(std::memory_order_acquire))
      return *value;
    std::unique_ptr<const T> made = make();
    const T *current = nullptr;
    // If another thread has stored its value first, calls may already use that value.
    if (value_.compare_exchange_strong(current, made.get()))
      return *made.release();
    return *current;
  }

private:
  mutable std::atomic<const T *> value_{nullptr};
};

} // namespace pretok
