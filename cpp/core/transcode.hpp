// Text as Python keeps it, to UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Appends `size` code points as UTF-8. A pair of surrogates is the character that it stands
// for, and a lone one U+FFFD.
template <typename Unit>
void append_utf8(const Unit *units, std::size_t size, std::vector<std::uint8_t> &out) {
  const auto is = [units, size](std::size_t at, std::uint32_t first) {
    return at < size && (std::uint32_t{units[at]} & 0xFFFFFC00) == first;
  };
  constexpr std::size_t MOST = sizeof(Unit) == 1 ? 2 : sizeof(Unit) == 2 ? 3 : 4;
  const std::size_t before = out.size();
  out.resize(before + size * MOST);
  std::uint8_t *to = out.data() + before;
  const auto put = [&to](std::uint32_t byte) { *to++ = static_cast<std::uint8_t>(byte); };
  for (std::size_t i = 0; i < size; ++i) {
    std::uint32_t code_point = units[i];
    if (code_point < 0x80) {
      put(code_point);
      continue;
    }
    if (code_point < 0x800) {
      put(0xC0 | code_point >> 6);
      put(0x80 | (code_point & 0x3F));
      continue;
    }
    if (is(i, 0xD800) && is(i + 1, 0xDC00))
      code_point = 0x10000 + ((code_point & 0x3FF) << 10) + (std::uint32_t{units[++i]} & 0x3FF);
    else if ((code_point & 0xFFFFF800) == 0xD800)
      code_point = 0xFFFD;
    if (code_point < 0x10000) {
      put(0xE0 | code_point >> 12);
    } else {
      put(0xF0 | code_point >> 18);
      put(0x80 | (code_point >> 12 & 0x3F));
    }
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
}

// Whether units[at] is the second half of a pair of surrogates.
template <typename Unit>
bool is_within_pair(const Unit *units, std::size_t size, std::size_t at) {
  return at != 0 && at < size && (std::uint32_t{units[at]} & 0xFFFFFC00) == 0xDC00 &&
         (std::uint32_t{units[at - 1]} & 0xFFFFFC00) == 0xD800;
}

// So many code points, and how many bytes append_utf8 makes of them.
struct Measured {
  std::size_t units;
  std::size_t bytes;
};

// Returns how many code points `most` bytes are, of which there are `size`.
template <typename Unit>
Measured measure_utf8(const Unit *units, std::size_t size, std::size_t most) {
  Measured result{0, 0};
  while (result.units < size && result.bytes < most) {
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
