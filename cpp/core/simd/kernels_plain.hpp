// Plain C++ that all sets of kernels share. The sets fall back to this code for text that their
// vectors cannot read.
#pragma once

#include "core/base/bits.hpp"
#include "core/split/fast/class_buffer.hpp"
#include "core/unicode/class_table.hpp"
#include "core/unicode/utf8.hpp"
#include "core/utf/write_utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pretok {

// Looks up classes through copies of the pointers of a ClassTable. A store of a byte may alias
// the table, so without the copies the compiler would reload the pointers after each store.
struct ClassLookup {
  explicit ClassLookup(const ClassTable &table)
      : index(table.index()), blocks(table.blocks()) {}

  std::uint8_t operator[](std::uint32_t code_point) const {
    return blocks[std::size_t{index[code_point >> ClassTable::SHIFT]} << ClassTable::SHIFT |
                  (code_point & ((1U << ClassTable::SHIFT) - 1))];
  }
  // Returns the class of a code point below U+0100.
  std::uint8_t latin1(std::uint32_t code_point) const { return blocks[code_point]; }

  const std::uint16_t *const index;
  const std::uint8_t *const blocks;
};

// Appends the classes of the code points that start in data[at..until), as many as fit in the
// buffer, and advances `at` and `filled`. `size` is the size of the text. The last code point
// may end after `until`. A byte that is not UTF-8 counts as one code point.
inline void append_utf8(const ClassTable &table, const std::uint8_t *data, std::size_t size,
                        std::size_t &at, std::size_t until, ClassBuffer &buffer,
                        std::size_t &filled) {
  const ClassLookup class_of(table);
  std::uint8_t *const classes = buffer.classes();
  std::uint16_t *const offsets = buffer.offsets();
  until = std::min(until, size);
  std::size_t here = at;
  std::size_t count = filled;
  if (buffer.one_unit_each) {
    while (here < until && count < ClassBuffer::MAX_CODE_POINTS && data[here] < 0x80)
      classes[count++] = class_of.latin1(data[here++]);
    if (here < until && count < ClassBuffer::MAX_CODE_POINTS)
      buffer.start_offsets(count);
  }
  while (here < until && count < ClassBuffer::MAX_CODE_POINTS) {
    offsets[count] = static_cast<std::uint16_t>(here);
    if (data[here] < 0x80) {
      classes[count++] = class_of.latin1(data[here++]);
      continue;
    }
    const Decoded decoded = decode_fast(data + here, size - here);
    classes[count++] = class_of[decoded.code_point];
    here += decoded.width;
  }
  at = here;
  filled = count;
}

// Sets the classes of the code points with indices in [from, to).
template <typename Unit>
void append_code_points(const ClassTable &table, const Unit *data, std::size_t from,
                        std::size_t to, ClassBuffer &buffer) {
  const ClassLookup class_of(table);
  std::uint8_t *const classes = buffer.classes();
  for (std::size_t i = from; i < to; ++i)
    classes[i] =
        sizeof(Unit) == 1 || data[i] < 0x100 ? class_of.latin1(data[i]) : class_of[data[i]];
}

// Completes the relations after all parts are applied: clears the relations without parts, and
// inverts the relations whose parts describe the complement.
inline void complete(const Relations &relations, std::size_t blocks,
                     RelationBits &relation_bits) {
  // The outer loop is over blocks. If it were over relations, compilers would call memset,
  // which is slow for a short text.
  for (std::size_t block = 0; block < blocks; ++block) {
    for (const std::uint8_t relation : relations.absent())
      relation_bits[relation][block] = 0;
    for (const std::uint8_t relation : relations.inverted())
      relation_bits[relation][block] = ~relation_bits[relation][block];
  }
}

// Like Kernels::resolve_labels (kernels.hpp, which explains labels). neighbors.hpp explains the
// relations, such as CONDITIONAL. The label changes at a pair (a bit of `changed`) if this pair
// and the pair before it are both labeled (a bit of `plain`), and their labels differ.
inline void plain_resolve_labels(const RelationBits &relation_bits, std::size_t blocks,
                                 unsigned label_bits, Carry &carry, BoundaryBits &boundaries) {
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::uint64_t certain = relation_bits[BOUNDARY][block];
    const std::uint64_t unresolved = relation_bits[UNRESOLVED][block];
    const std::uint64_t conditional = relation_bits[CONDITIONAL][block];
    const std::uint64_t plain =
        ~(certain | unresolved | conditional | relation_bits[SPACE_PAIR][block]);
    std::uint64_t differs = 0;
    for (unsigned i = 0; i < label_bits; ++i) {
      const std::uint64_t label = relation_bits[LABEL + i][block];
      differs |= label ^ (label << 1 | carry.labels[i] >> 63);
      carry.labels[i] = label;
    }
    const std::uint64_t changed = differs & plain & (plain << 1 | carry.plain >> 63);
    // A change right after a change is unresolved. If the first change is a boundary, the first
    // pair is not in the pre-token of the second pair. Then comparing the labels of the two
    // pairs means nothing.
    const std::uint64_t resolved =
        changed & ~relation_bits[AMBIGUOUS][block] & ~(changed << 1 | carry.changed >> 63);
    carry.plain = plain;
    carry.changed = changed;
    boundaries.certain[block] = certain;
    boundaries.all[block] = certain | conditional | resolved;
    boundaries.unresolved[block] = unresolved | (changed & ~resolved);
    boundaries.changed[block] = changed;
  }
}

inline std::size_t plain_bits_to_positions(const std::uint64_t *words, std::size_t count,
                                           std::size_t base, const std::uint16_t *offsets,
                                           std::size_t *ends) {
  std::size_t *to = ends;
  for (std::size_t i = 0; i < count; ++i)
    for (std::uint64_t word = words[i]; word != 0; word &= word - 1) {
      const std::size_t at = i * 64 + lowest_bit(word);
      *to++ = base + (offsets == nullptr ? at : offsets[at]);
    }
  return static_cast<std::size_t>(to - ends);
}

} // namespace pretok
