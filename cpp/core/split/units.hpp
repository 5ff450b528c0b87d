// Converts positions in a text to offsets in code points, bytes or UTF-16 code units.
#pragma once

#include "core/split/text.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pretok {

// CHAR counts code points, and UTF16 counts UTF-16 code units.
enum class OffsetUnit { CHAR, BYTE, UTF16 };

// Returns the width of a code point in `unit`. A lone surrogate takes 3 bytes or 1 UTF-16 code
// unit.
inline std::int64_t width_in(OffsetUnit unit, std::uint32_t code_point) {
  switch (unit) {
  case OffsetUnit::CHAR:
    return 1;
  case OffsetUnit::BYTE:
    return 1 + (code_point >= 0x80) + (code_point >= 0x800) + (code_point >= 0x10000);
  case OffsetUnit::UTF16:
    break;
  }
  return 1 + (code_point >= 0x10000);
}

// Converts `bounds`, ascending positions in `source`, to offsets in `unit`. A position counts
// bytes if `source` is Utf8, else code points. At each position a code point starts, or the
// text ends. Takes linear time in the size of `source`.
template <typename Source, typename Offsets>
void convert(const Source &source, Offsets &bounds, OffsetUnit unit) {
  constexpr bool bytes = std::is_same_v<Source, Utf8>;
  if (unit == (bytes ? OffsetUnit::BYTE : OffsetUnit::CHAR))
    return;
  std::size_t at = 0;
  std::int64_t offset = 0;
  for (auto &bound : bounds) {
    while (at < static_cast<std::size_t>(bound)) {
      if constexpr (bytes) {
        const Decoded decoded = source.decode(at);
        offset += width_in(unit, decoded.code_point);
        at += decoded.width;
      } else {
        offset += width_in(unit, source.code_point(at));
        ++at;
      }
    }
    bound = static_cast<std::decay_t<decltype(bound)>>(offset);
  }
}

} // namespace pretok
