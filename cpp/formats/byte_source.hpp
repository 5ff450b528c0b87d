// A source of bytes that is read from front to back, such as a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pretok {

class ByteSource {
public:
  // Returns the size in bytes that the source had when it was opened. A file may have shrunk
  // since then.
  virtual std::uint64_t size() const = 0;

  // Copies `count` bytes from offset `at` of the source to `to`. If the source ends before, or
  // if reading fails, copies fewer bytes. Returns the number of copied bytes. `at` must not be
  // less than the end of the previous read, so that a source need not go back.
  virtual std::size_t read(std::uint64_t at, std::uint8_t *to, std::size_t count) = 0;

protected:
  ~ByteSource() = default;
};

// A ByteSource in memory.
class MemorySource final : public ByteSource {
public:
  MemorySource(const std::uint8_t *data, std::size_t size) : data_(data), size_(size) {}

  std::uint64_t size() const override { return size_; }
  std::size_t read(std::uint64_t at, std::uint8_t *to, std::size_t count) override {
    if (at >= size_)
      return 0;
    const std::uint8_t *const first = data_ + static_cast<std::size_t>(at);
    return static_cast<std::size_t>(
        std::copy(first, first + std::min(count, size_ - static_cast<std::size_t>(at)), to) -
        to);
  }

private:
  const std::uint8_t *data_;
  std::size_t size_;
};

} // namespace pretok
