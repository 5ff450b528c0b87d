// Decodes UTF-8 to code units of 1, 2 or 4 bytes, one for each code point.
#pragma once

#include "core/simd/kernels.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

struct Utf8Shape {
  std::size_t code_points = 0; // the number of bytes that are not continuation bytes
  std::uint8_t largest = 0;    // the largest byte; for ASCII text, any value below 0x80
};

inline Utf8Shape shape_of(const std::uint8_t *data, std::size_t size) {
  Utf8Shape shape;
  std::size_t at = 0;
  // Count in blocks of 128, so that each count fits in a byte. Compilers vectorize this loop.
  for (; size - at >= 128; at += 128) {
    std::uint8_t starts = 0;
    std::uint8_t largest = 0;
    for (std::size_t i = 0; i < 128; ++i) {
      const std::uint8_t byte = data[at + i];
      starts = static_cast<std::uint8_t>(starts + ((byte & 0xC0) != 0x80));
      largest = largest < byte ? byte : largest;
    }
    shape.code_points += starts;
    shape.largest = shape.largest < largest ? largest : shape.largest;
  }
  if (is_ascii(data + at, size - at)) {
    shape.code_points += size - at;
    return shape;
  }
  for (; at < size; ++at) {
    shape.code_points += (data[at] & 0xC0) != 0x80;
    shape.largest = shape.largest < data[at] ? data[at] : shape.largest;
  }
  return shape;
}

// Decodes UTF-8 from `at` on, and writes each code point to `to` as one Unit. Advances `at` and
// `to`. Stops at or after `stop`, but at the latest at `end`, the end of the text. Returns
// false if the bytes are not UTF-8.
template <typename Unit>
bool read_utf8(const std::uint8_t *&at, const std::uint8_t *stop, const std::uint8_t *end,
               Unit *&to) {
  constexpr std::ptrdiff_t AT_ONCE = 8;
  const auto follows = [&at](std::ptrdiff_t i) { return (at[i] & 0xC0) == 0x80; };
  while (at < stop) {
    const std::uint32_t lead = *at;
    if (lead < 0x80) {
      *to++ = *at++;
      // In non-Latin text, most ASCII characters are single spaces. Do not start a loop for
      // them.
      if (at == end || *at >= 0x80)
        continue;
      std::uint64_t some;
      while (end - at >= AT_ONCE) {
        std::memcpy(&some, at, sizeof some);
        if ((some & 0x8080808080808080) != 0)
          break;
        for (std::ptrdiff_t i = 0; i < AT_ONCE; ++i)
          to[i] = at[i];
        at += AT_ONCE;
        to += AT_ONCE;
      }
      while (at != end && *at < 0x80)
        *to++ = *at++;
      continue;
    }
    if (lead >= 0xE0 && lead < 0xF0) {
      if (end - at < 3 || !follows(1) || !follows(2))
        return false;
      const std::uint32_t code_point =
          (lead & 0x0F) << 12 | (at[1] & std::uint32_t{0x3F}) << 6 | (at[2] & 0x3F);
      if (code_point < 0x800 || (code_point & 0xF800) == 0xD800)
        return false;
      *to++ = static_cast<Unit>(code_point);
      at += 3;
    } else if (lead < 0xE0) {
      // A sequence of two bytes usually follows another sequence of two bytes.
      std::uint32_t next = lead;
      do {
        if (next < 0xC2 || end - at < 2 || !follows(1))
          return false;
        *to++ = static_cast<Unit>((next & 0x1F) << 6 | (at[1] & 0x3F));
        at += 2;
      } while (at != end && (next = *at) >= 0xC0 && next < 0xE0);
    } else {
      if (lead > 0xF4 || end - at < 4 || !follows(1) || !follows(2) || !follows(3))
        return false;
      const std::uint32_t code_point = (lead & 0x07) << 18 |
                                       (at[1] & std::uint32_t{0x3F}) << 12 |
                                       (at[2] & std::uint32_t{0x3F}) << 6 | (at[3] & 0x3F);
      if (code_point < 0x10000 || code_point > 0x10FFFF)
        return false;
      *to++ = static_cast<Unit>(code_point);
      at += 4;
    }
  }
  return true;
}

// Decodes UTF-8 with `use.widen` from `at` on. Stops when fewer than 64 bytes remain, or when
// the next 64 bytes have a sequence that it does not decode. Advances `at` and `to`.
inline void widen_more(const Kernels &use, const std::uint8_t *&at, const std::uint8_t *end,
                       std::uint16_t *&to) {
  use.widen(at, end, end, to);
}
inline void widen_more(const Kernels &use, const std::uint8_t *&at, const std::uint8_t *end,
                       std::uint32_t *&to) {
  constexpr std::ptrdiff_t MAX_WIDENED = 512;
  std::array<std::uint16_t, MAX_WIDENED + 64> some;
  std::uint16_t *filled;
  do {
    filled = some.data();
    use.widen(at, at + std::min(MAX_WIDENED, end - at), end, filled);
    to = std::copy(some.data(), filled, to);
  } while (filled != some.data());
}

// Decodes a whole text like read_utf8, but with Kernels::widen where possible.
template <typename Unit>
bool read_all_utf8(const std::uint8_t *at, std::size_t size, Unit *to) {
  const std::uint8_t *const end = at + size;
  if constexpr (sizeof(Unit) != 1) {
    const Kernels &use = kernels();
    while (use.widen != nullptr && at != end) {
      widen_more(use, at, end, to);
      if (!read_utf8(at, at + std::min(std::ptrdiff_t{64}, end - at), end, to))
        return false;
    }
  }
  return read_utf8(at, end, end, to);
}

} // namespace pretok
