// A growing array of ids. Unlike std::vector, it does not initialize new memory.
#pragma once

#include "core/base/huge_pages.hpp"
#include "core/base/sizes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace pretok {

class IdBuffer {
public:
  IdBuffer() = default;
  // Starts in `lent`, memory for `capacity` ids that the caller owns. More than `capacity` ids
  // need an allocation. The buffer never frees `lent`.
  IdBuffer(std::uint32_t *lent, std::size_t capacity)
      : ids_(lent), capacity_(capacity), lent_(lent) {}
  IdBuffer(IdBuffer &&other) noexcept { *this = std::move(other); }
  IdBuffer &operator=(IdBuffer &&other) noexcept {
    std::swap(ids_, other.ids_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(lent_, other.lent_);
    return *this;
  }
  ~IdBuffer() {
    if (ids_ != lent_)
      std::free(ids_);
  }

  // Returns memory for the next `count` ids, after the ids so far. Then the caller writes ids
  // there, and calls `add` with their number. Throws std::bad_alloc. May move the ids so far.
  std::uint32_t *room(std::size_t count) {
    if (capacity_ - size_ < count)
      grow(saturating_add(size_, count));
    return ids_ + size_;
  }
  void add(std::size_t count) { size_ += count; }
  // Append ids. May move the ids so far. Throw std::bad_alloc.
  void append(std::uint32_t id) {
    *room(1) = id;
    ++size_;
  }
  void append(const std::uint32_t *ids, std::size_t count) {
    if (count != 0)
      std::memcpy(room(count), ids, count * sizeof *ids);
    size_ += count;
  }
  void clear() { size_ = 0; }
  // Removes the first `count` ids, at most size(). Moves the rest to the front.
  void drop_front(std::size_t count) {
    size_ -= count;
    if (size_ != 0)
      std::memmove(ids_, ids_ + count, size_ * sizeof *ids_);
  }

  // Makes room for `capacity` ids in total. Throws std::bad_alloc.
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_)
      return;
    if (capacity > MAX_IDS)
      throw std::bad_alloc();
    // Unlike a vector, realloc may grow the block without a copy.
    void *larger =
        std::realloc(ids_ != lent_ ? ids_ : nullptr, capacity * sizeof(std::uint32_t));
    if (larger == nullptr)
      throw std::bad_alloc();
    if (ids_ == lent_ && size_ != 0)
      std::memcpy(larger, ids_, size_ * sizeof(std::uint32_t));
    ids_ = static_cast<std::uint32_t *>(larger);
    capacity_ = capacity;
    prefer_huge_pages(ids_, capacity * sizeof *ids_);
  }

  const std::uint32_t *data() const { return ids_; }
  std::size_t size() const { return size_; }

  // Frees the memory after the last id, if it has room for more than MAX_UNUSED ids. Does
  // nothing for lent memory.
  void fit() {
    constexpr std::size_t MAX_UNUSED = std::size_t{1} << 16;
    if (ids_ != lent_ && size_ != 0 && capacity_ - size_ > MAX_UNUSED)
      if (void *smaller = std::realloc(ids_, size_ * sizeof *ids_)) {
        ids_ = static_cast<std::uint32_t *>(smaller);
        capacity_ = size_;
      }
  }

  // Returns the ids, which the caller must std::free, and leaves the buffer empty. Returns
  // nullptr if the buffer has no memory. Must not be called while the ids are in lent memory.
  std::uint32_t *release() {
    size_ = capacity_ = 0;
    return std::exchange(ids_, nullptr);
  }

private:
  static constexpr std::size_t MAX_IDS = MAX_VALUES<std::uint32_t>;

  // Grows to a capacity of `needed` ids plus half the current size, but at most MAX_IDS. Throws
  // std::bad_alloc if `needed` exceeds MAX_IDS.
  void grow(std::size_t needed) {
    reserve(std::max(needed, std::min(saturating_add(needed, size_ / 2), MAX_IDS)));
  }

  std::uint32_t *ids_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  const std::uint32_t *lent_ = nullptr; // the caller's memory, or nullptr
};

} // namespace pretok
