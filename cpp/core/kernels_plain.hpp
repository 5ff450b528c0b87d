// Reading of texts in plain C++, for all kernels: what they do not read in a faster way.
#pragma once

#include "class_table.hpp"
#include "stretch.hpp"
#include "utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pretok {

// Reads code points of UTF-8, or bytes that are none, from data[at] to data[until] and one that
// lies across there, as far as they fit; what lies behind data[size] is not there.
inline void append_utf8(const ClassTable &table, const std::uint8_t *data, std::size_t size,
                        std::size_t &at, std::size_t until, Stretch &stretch,
                        std::size_t &filled) {
  const std::uint8_t *latin1 = table.latin1();
  std::uint8_t *classes = stretch.classes();
  until = std::min(until, size);
  while (at < until && filled < Stretch::MOST) {
    if (data[at] < 0x80) {
      if (!stretch.even)
        stretch.offsets()[filled] = static_cast<std::uint16_t>(at);
      classes[filled++] = latin1[data[at++]];
      continue;
    }
    if (stretch.even)
      stretch.uneven(filled);
    const Decoded decoded = decode_utf8(data + at, size - at);
    stretch.offsets()[filled] = static_cast<std::uint16_t>(at);
    classes[filled++] = table[decoded.code_point];
    at += decoded.width;
  }
}

template <typename Unit>
void append_code_points(const ClassTable &table, const Unit *data, std::size_t from,
                        std::size_t to, Stretch &stretch) {
  for (std::size_t i = from; i < to; ++i)
    stretch.classes()[i] =
        sizeof(Unit) == 1 || data[i] < 0x100 ? table.latin1()[data[i]] : table[data[i]];
}

// Says of relations that look-ups do not tell what they are, and inverts what they do.
inline void complete(const Relations &relations, std::size_t blocks, Masks &masks) {
  for (const std::uint8_t relation : relations.absent())
    for (std::size_t block = 0; block < blocks; ++block)
      masks[relation][block] = 0;
  for (const std::uint8_t relation : relations.inverted())
    for (std::size_t block = 0; block < blocks; ++block)
      masks[relation][block] = ~masks[relation][block];
}

inline std::size_t list_bits(const std::uint64_t *words, std::size_t count, std::size_t base,
                             const std::uint16_t *offsets, std::size_t *ends) {
  std::size_t *to = ends;
  for (std::size_t i = 0; i < count; ++i)
    for (std::uint64_t word = words[i]; word != 0; word &= word - 1) {
      const std::size_t at = i * 64 + static_cast<unsigned>(__builtin_ctzll(word));
      *to++ = base + (offsets == nullptr ? at : offsets[at]);
    }
  return static_cast<std::size_t>(to - ends);
}

} // namespace pretok
