// A growing array of plain values, of which any part can be replaced. Unlike std::vector, it
// grows with realloc, which moves the pages of a large array instead of copying its values.
#pragma once

#include "core/base/huge_pages.hpp"
#include "core/base/sizes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

namespace pretok {

template <typename Value> class SplicedArray {
  static_assert(std::is_trivially_copyable_v<Value>);

public:
  SplicedArray() = default;
  // Leaves room for more values, since copies are mostly made to grow.
  SplicedArray(const SplicedArray &other) {
    reserve(other.size_ + other.size_ / 16);
    splice(0, 0, other.data(), other.size_);
  }
  SplicedArray &operator=(const SplicedArray &) = delete;

  const Value *data() const { return values_.get(); }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  const Value &operator[](std::size_t index) const { return values_[index]; }

  // Makes room for `capacity` values. Repeated calls take linear time together. Throws
  // std::bad_alloc.
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_)
      return;
    if (capacity > MAX_VALUES<Value>)
      throw std::bad_alloc();
    capacity = std::max(capacity, capacity_ + capacity_ / 2);
    void *const larger = std::realloc(values_.get(), capacity * sizeof(Value));
    if (larger == nullptr)
      throw std::bad_alloc();
    static_cast<void>(values_.release());
    values_.reset(static_cast<Value *>(larger));
    capacity_ = capacity;
    prefer_huge_pages(values_.get(), capacity * sizeof(Value));
  }

  // Replaces the values from `start` to `end`, excluded, by `count` others, which are not in
  // this array. There must be room for them.
  void splice(std::size_t start, std::size_t end, const Value *values, std::size_t count) {
    Value *const to = values_.get() + start;
    if (end != size_ && end - start != count)
      std::memmove(to + count, values_.get() + end, (size_ - end) * sizeof(Value));
    if (count != 0)
      std::memcpy(to, values, count * sizeof(Value));
    size_ = size_ - (end - start) + count;
  }

  // Removes the first `count` values. Frees memory if most of it is unused.
  void drop_front(std::size_t count) {
    constexpr std::size_t MIN_FREED = 4096;
    splice(0, count, nullptr, 0);
    if (capacity_ - size_ < MIN_FREED || capacity_ / 4 < size_)
      return;
    const std::size_t capacity = std::max(size_, MIN_FREED);
    if (void *const smaller = std::realloc(values_.get(), capacity * sizeof(Value))) {
      static_cast<void>(values_.release());
      values_.reset(static_cast<Value *>(smaller));
      capacity_ = capacity;
    }
  }

  // Takes `size` values at `values`, which were allocated with malloc.
  void adopt(Value *values, std::size_t size) {
    values_.reset(values);
    size_ = capacity_ = size;
  }

private:
  struct Free {
    void operator()(Value *values) const { std::free(values); }
  };

  std::unique_ptr<Value[], Free> values_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

} // namespace pretok
