// Scratch memory that is reused from text to text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace pretok {

// Uninitialized memory, for example for the UTF-8 of one text. A Scratch object contains 512
// bytes, and allocates memory only for larger sizes.
class Scratch {
public:
  Scratch() = default;
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  ~Scratch() { std::free(large_); }

  // Returns memory for `size` bytes, and discards what earlier callers wrote there. Throws
  // std::bad_alloc.
  std::uint8_t *room(std::size_t size) {
    if (size <= small_.size())
      return small_.data();
    if (size > capacity_) {
      std::free(large_);
      capacity_ = 0;
      large_ = static_cast<std::uint8_t *>(std::malloc(size));
      if (large_ == nullptr)
        throw std::bad_alloc();
      capacity_ = size;
    }
    return large_;
  }

  // Returns whether `data` is a pointer to this memory, as `room` returns it.
  bool owns(const std::uint8_t *data) const { return data == small_.data() || data == large_; }

private:
  std::array<std::uint8_t, 512> small_; // not initialized
  std::uint8_t *large_ = nullptr;
  std::size_t capacity_ = 0;
};

} // namespace pretok
