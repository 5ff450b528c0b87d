// Writes text in code units of 1, 2 or 4 bytes as UTF-8. Python stores a str in such units.
#pragma once

#include "core/simd/kernels.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

// The maximum number of UTF-8 bytes for one code unit of a str.
template <typename Unit>
inline constexpr std::size_t MAX_UTF8 = sizeof(Unit) == 1   ? 2
                                        : sizeof(Unit) == 2 ? 3
                                                            : 4;

// Like write_utf8, in plain C++.
template <typename Unit>
std::uint8_t *write_utf8_plain(const Unit *units, std::size_t size, std::uint8_t *to) {
  constexpr std::size_t AT_ONCE = 8 / sizeof(Unit);
  constexpr std::uint64_t NOT_ASCII = sizeof(Unit) == 1   ? 0x8080808080808080
                                      : sizeof(Unit) == 2 ? 0xFF80FF80FF80FF80
                                                          : 0xFFFFFF80FFFFFF80;
  const Unit *const end = units + size;
  while (units != end) {
    std::uint32_t code_point = *units;
    if (code_point < 0x80) {
      std::uint64_t some;
      while (static_cast<std::size_t>(end - units) >= AT_ONCE) {
        std::memcpy(&some, units, sizeof some);
        if ((some & NOT_ASCII) != 0)
          break;
        for (std::size_t i = 0; i < AT_ONCE; ++i)
          to[i] = static_cast<std::uint8_t>(units[i]);
        units += AT_ONCE;
        to += AT_ONCE;
      }
      while (units != end && *units < 0x80)
        *to++ = static_cast<std::uint8_t>(*units++);
      continue;
    }
    ++units;
    // Scripts outside Latin, Greek, Cyrillic and the Middle East mostly take three bytes, so
    // this case has a fast path.
    if (sizeof(Unit) == 2 && code_point - 0x800 < 0xD800 - 0x800) {
      to[0] = static_cast<std::uint8_t>(0xE0 | code_point >> 12);
      to[1] = static_cast<std::uint8_t>(0x80 | (code_point >> 6 & 0x3F));
      to[2] = static_cast<std::uint8_t>(0x80 | (code_point & 0x3F));
      to += 3;
      continue;
    }
    if (code_point >= 0x800 && (code_point & 0xFFFFF800) == 0xD800) {
      if (code_point < 0xDC00 && units != end && (std::uint32_t{*units} & 0xFFFFFC00) == 0xDC00)
        code_point = 0x10000 + ((code_point & 0x3FF) << 10) + (std::uint32_t{*units++} & 0x3FF);
      else
        code_point = 0xFFFD;
    }
    to += encode_utf8(code_point, to);
  }
  return to;
}

// Returns whether units[at] is the second half of a surrogate pair.
template <typename Unit>
bool is_within_pair(const Unit *units, std::size_t size, std::size_t at) {
  return at != 0 && at < size && (std::uint32_t{units[at]} & 0xFFFFFC00) == 0xDC00 &&
         (std::uint32_t{units[at - 1]} & 0xFFFFFC00) == 0xD800;
}

// For a writer that takes `count` code units at a time: writes the next `count` ones before
// `end` with write_utf8_plain. If they end within a surrogate pair, writes the whole pair.
// Advances `units`, and returns the end of the UTF-8.
template <typename Unit>
std::uint8_t *write_next_plain(const Unit *&units, const Unit *end, std::size_t count,
                               std::uint8_t *to) {
  const auto left = static_cast<std::size_t>(end - units);
  const std::size_t taken = count + (is_within_pair(units, left, count) ? 1 : 0);
  to = write_utf8_plain(units, taken, to);
  units += taken;
  return to;
}

// Writes `size` code units as UTF-8, and returns the end. There must be room for MAX_UTF8 bytes
// per code unit. Writes a surrogate pair as its code point, and a lone surrogate as U+FFFD.
inline std::uint8_t *write_utf8(const std::uint8_t *units, std::size_t size, std::uint8_t *to) {
  return kernels().write_utf8_of_8(units, size, to);
}
inline std::uint8_t *write_utf8(const std::uint16_t *units, std::size_t size,
                                std::uint8_t *to) {
  return kernels().write_utf8_of_16(units, size, to);
}
inline std::uint8_t *write_utf8(const std::uint32_t *units, std::size_t size,
                                std::uint8_t *to) {
  return kernels().write_utf8_of_32(units, size, to);
}

// Returns whether any code unit is a surrogate.
template <typename Unit> bool has_surrogate(const Unit *units, std::size_t size) {
  const auto is_surrogate = [](Unit unit) {
    return static_cast<Unit>(unit & ~Unit{0x7FF}) == Unit{0xD800};
  };
  // Compilers vectorize the inner loop, because it has no early exit.
  constexpr std::size_t BLOCK = 64;
  for (; size >= BLOCK; units += BLOCK, size -= BLOCK) {
    Unit any = 0;
    for (std::size_t i = 0; i < BLOCK; ++i)
      any |= static_cast<Unit>(is_surrogate(units[i]));
    if (any != 0)
      return true;
  }
  return std::any_of(units, units + size, is_surrogate);
}

// A number of code units, and the number of bytes that write_utf8 writes for them.
struct Measured {
  std::size_t units;
  std::size_t bytes;
};

// Measures the fewest code units, from the first one on, that take `min_bytes` bytes of UTF-8
// or more. If all `size` code units take fewer bytes, measures all. Does not divide a surrogate
// pair.
template <typename Unit>
Measured measure_utf8(const Unit *units, std::size_t size, std::size_t min_bytes) {
  Measured result{0, 0};
  while (result.units < size && result.bytes < min_bytes) {
    const std::uint32_t code_point = units[result.units];
    const bool is_pair = is_within_pair(units, size, result.units + 1);
    result.units += is_pair ? 2 : 1;
    result.bytes += code_point < 0x80      ? 1
                    : code_point < 0x800   ? 2
                    : is_pair              ? 4
                    : code_point < 0x10000 ? 3
                                           : 4;
  }
  return result;
}

} // namespace pretok
