// Counts the code points of UTF-8, and converts byte offsets to offsets in code points.
#pragma once

#include "core/base/bits.hpp"
#include "core/unicode/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace pretok {

// Returns the number of bytes that begin a code point.
inline std::size_t count_code_points(const std::uint8_t *data, std::size_t size) {
  constexpr std::uint64_t ONES = 0x0101010101010101;
  std::size_t tails = 0;
  std::size_t at = 0;
  for (; size - at >= sizeof ONES; at += sizeof ONES) {
    std::uint64_t word;
    std::memcpy(&word, data + at, sizeof word);
    tails += static_cast<std::size_t>((word >> 7 & ~word >> 6 & ONES) * ONES >> 56);
  }
  for (; at < size; ++at)
    tails += is_tail(data[at]) ? 1U : 0U;
  return size - tails;
}

// Counts the code points of UTF-8 before any byte offset. Takes as much memory as two copies of
// the text.
class CodePointCounts {
public:
  CodePointCounts(const std::uint8_t *data, std::size_t size) : groups_(size / WIDTH + 1) {
    std::uint64_t before = 0;
    const std::uint8_t *at = data;
    for (Group &group : groups_) {
      const auto left = static_cast<std::size_t>(data + size - at);
      const std::uint64_t starts = left >= WIDTH ? starts_in(at) : starts_in(at, left);
      // Byte i of the product is the sum of the bytes 0 to i of `starts`.
      group = {before, starts * ONES};
      before += group.sums >> (8 * WIDTH - 8);
      at += WIDTH;
    }
  }

  // Returns the number of code points that start before a byte offset, which must not be more
  // than the size of the text.
  std::int64_t before(std::size_t offset) const {
    const Group &group = groups_[offset / WIDTH];
    const std::uint64_t within = group.sums << 8 >> 8 * (offset % WIDTH) & 0xFF;
    return static_cast<std::int64_t>(group.before + within);
  }

private:
  static constexpr std::size_t WIDTH = 8;
  static constexpr std::uint64_t ONES = 0x0101010101010101;

  struct Group {          // 8 bytes of the text
    std::uint64_t before; // the number of code points that start before the group
    std::uint64_t sums;   // byte i is the number of code points that start in bytes 0 to i
  };

  // Return a word whose byte i is 1 if bytes[i] starts a code point, else 0. The first version
  // reads WIDTH bytes.
  static std::uint64_t starts_in(const std::uint8_t *bytes) {
    if constexpr (LITTLE_ENDIAN_BYTES) {
      std::uint64_t word;
      std::memcpy(&word, bytes, sizeof word);
      // A continuation byte has the highest bit 1, and the next bit 0.
      return (~word >> 7 | word >> 6) & ONES;
    }
    return starts_in(bytes, WIDTH);
  }
  static std::uint64_t starts_in(const std::uint8_t *bytes, std::size_t size) {
    std::uint64_t starts = 0;
    for (std::size_t i = 0; i < size; ++i)
      starts |= static_cast<std::uint64_t>(is_tail(bytes[i]) ? 0 : 1) << 8 * i;
    return starts;
  }

  std::vector<Group> groups_;
};

} // namespace pretok
