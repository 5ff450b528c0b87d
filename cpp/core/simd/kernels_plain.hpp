// Reading of texts in plain C++, for all kernels: what they do not read in a faster way.
#pragma once

#include "core/base/bits.hpp"
#include "core/split/fast/stretch.hpp"
#include "core/unicode/class_table.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pretok {

// A ClassTable that needs no loads of its own: bytes that are written might be those.
struct Classes {
  explicit Classes(const ClassTable &table) : index(table.index()), blocks(table.blocks()) {}

  std::uint8_t operator[](std::uint32_t code_point) const {
    return blocks[std::size_t{index[code_point >> ClassTable::SHIFT]} << ClassTable::SHIFT |
                  (code_point & ((1U << ClassTable::SHIFT) - 1))];
  }
  // The same, of what is below U+0100.
  std::uint8_t latin1(std::uint32_t code_point) const { return blocks[code_point]; }

  const std::uint16_t *const index;
  const std::uint8_t *const blocks;
};

// decode_utf8, fast where there are two or three bytes of well-formed UTF-8 and one more.
inline Decoded decode_fast(const std::uint8_t *bytes, std::size_t left) {
  if (left < 4)
    return decode_utf8(bytes, left);
  const std::uint32_t four = std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
                             std::uint32_t{bytes[2]} << 8 | bytes[3];
  if ((four & 0xF0C0C000) == 0xE0808000) {
    const std::uint32_t code_point =
        (four >> 12 & 0xF000) | (four >> 10 & 0x0FC0) | (four >> 8 & 0x003F);
    if (code_point >= 0x800 && code_point - 0xD800 >= 0x800)
      return {code_point, 3};
  } else if ((four & 0xE0C00000) == 0xC0800000 && four >= 0xC2000000) {
    return {(four >> 18 & 0x07C0) | (four >> 16 & 0x003F), 2};
  }
  return decode_utf8(bytes, left);
}

// Reads code points of UTF-8, or bytes that are none, from data[at] to data[until] and one that
// lies across there, as far as they fit; what lies behind data[size] is not there.
inline void append_utf8(const ClassTable &table, const std::uint8_t *data, std::size_t size,
                        std::size_t &at, std::size_t until, Stretch &stretch,
                        std::size_t &filled) {
  const Classes of(table);
  std::uint8_t *const classes = stretch.classes();
  std::uint16_t *const offsets = stretch.offsets();
  until = std::min(until, size);
  std::size_t here = at;
  std::size_t count = filled;
  if (stretch.even) {
    while (here < until && count < Stretch::MAX_CODE_POINTS && data[here] < 0x80)
      classes[count++] = of.latin1(data[here++]);
    if (here < until && count < Stretch::MAX_CODE_POINTS)
      stretch.uneven(count);
  }
  while (here < until && count < Stretch::MAX_CODE_POINTS) {
    offsets[count] = static_cast<std::uint16_t>(here);
    if (data[here] < 0x80) {
      classes[count++] = of.latin1(data[here++]);
      continue;
    }
    const Decoded decoded = decode_fast(data + here, size - here);
    classes[count++] = of[decoded.code_point];
    here += decoded.width;
  }
  at = here;
  filled = count;
}

template <typename Unit>
void append_code_points(const ClassTable &table, const Unit *data, std::size_t from,
                        std::size_t to, Stretch &stretch) {
  const Classes of(table);
  std::uint8_t *const classes = stretch.classes();
  for (std::size_t i = from; i < to; ++i)
    classes[i] = sizeof(Unit) == 1 || data[i] < 0x100 ? of.latin1(data[i]) : of[data[i]];
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

inline void combine_words(const Masks &masks, std::size_t blocks, unsigned label_bits,
                          Edge &edge, Bounds &bounds) {
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::uint64_t cut = masks[CUT][block];
    const std::uint64_t ask = masks[ASK][block];
    const std::uint64_t soft = masks[SOFT][block];
    const std::uint64_t plain = ~(cut | ask | soft | masks[SPACES][block]);
    std::uint64_t differs = 0;
    for (unsigned i = 0; i < label_bits; ++i) {
      const std::uint64_t label = masks[LABEL + i][block];
      differs |= label ^ (label << 1 | edge.labels[i] >> 63);
      edge.labels[i] = label;
    }
    const std::uint64_t changed = differs & plain & (plain << 1 | edge.plain >> 63);
    // Behind a change the next label is compared with one that no longer counts.
    const std::uint64_t changes =
        changed & ~masks[TIED][block] & ~(changed << 1 | edge.changed >> 63);
    edge.plain = plain;
    edge.changed = changed;
    bounds.cuts[block] = cut;
    bounds.all[block] = cut | soft | changes;
    bounds.asks[block] = ask | (changed & ~changes);
    bounds.changed[block] = changed;
  }
}

inline std::size_t list_bits(const std::uint64_t *words, std::size_t count, std::size_t base,
                             const std::uint16_t *offsets, std::size_t *ends) {
  std::size_t *to = ends;
  for (std::size_t i = 0; i < count; ++i)
    for (std::uint64_t word = words[i]; word != 0; word &= word - 1) {
      const std::size_t at = i * 64 + lowest_bit(word);
      *to++ = base + (offsets == nullptr ? at : offsets[at]);
    }
  return static_cast<std::size_t>(to - ends);
}

} // namespace pretok
