// The fast path reads a text in parts of up to 1,024 code points. A ClassBuffer has the classes
// of one part, in one byte for each code point.
#pragma once

#include "core/split/fast/relations.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

// The maximum number of blocks of 64 code points in a buffer.
inline constexpr std::size_t BLOCKS = 16;

// One word for each block. The word has one bit for each code point of the block.
using BitWords = std::array<std::uint64_t, BLOCKS>;

// One BitWords for each relation. The bit of a code point says whether the relation holds for
// the pair of the previous code point and this code point.
using RelationBits = std::array<BitWords, RELATIONS>;

// Boundaries of a buffer, and the pairs that decide them (neighbors.hpp). The bit of a code
// point stands for the boundary before the code point, or for the pair of the previous code
// point and this code point.
struct BoundaryBits {
  BitWords certain;    // boundaries that do not depend on unresolved pairs
  BitWords all;        // `certain`, and boundaries that are right if no pair since the previous
                       // certain boundary is unresolved
  BitWords unresolved; // pairs that the machine must decide
  BitWords changed;    // pairs whose label differs from the label of the pair before
};

// Words of the previous block. Shifts carry their highest bits into the next block.
struct Carry {
  std::uint64_t plain = 0;               // labeled pairs: pairs that are not BOUNDARY,
                                         // UNRESOLVED, CONDITIONAL or SPACE_PAIR
  std::uint64_t joined = 0;              // JOINED pairs
  std::uint64_t changed = 0;             // BoundaryBits::changed
  std::array<std::uint64_t, 4> labels{}; // a word for each bit of the labels
};

struct ClassBuffer {
  // Each buffer of a text has this many code points, except the last one.
  static constexpr std::size_t MAX_CODE_POINTS = 64 * BLOCKS;
  // Kernels may write this many bytes or offsets past the end.
  static constexpr std::size_t PADDING = 64;

  std::size_t count = 0;     // number of code points
  std::size_t units = 0;     // number of code units that the code points take
  bool one_unit_each = true; // whether every code point takes one code unit

  std::uint8_t *classes() { return classes_.data() + PADDING; }
  // The start of each code point, in code units from the start of the buffer. Not set if
  // `one_unit_each`.
  std::uint16_t *offsets() { return offsets_.data(); }
  std::size_t offset(std::size_t at) const { return one_unit_each ? at : offsets_[at]; }
  std::size_t blocks() const { return (count + 63) / 64; }

  // Writes the offsets of the first `filled` code points, which take one code unit each. After
  // this call the kernels write the offset of each code point.
  void start_offsets(std::size_t filled) {
    for (std::size_t i = 0; i < filled; ++i)
      offsets_[i] = static_cast<std::uint16_t>(i);
    one_unit_each = false;
  }

  // Ends reading after `filled` code points and `read` code units. `is_end` says whether the
  // text ends there. If a kernel has filled more than MAX_CODE_POINTS, the rest is dropped.
  void finish(std::size_t filled, std::size_t read, bool is_end) {
    count = filled;
    units = read;
    if (filled > MAX_CODE_POINTS || !is_end) {
      count = MAX_CODE_POINTS;
      units = filled == MAX_CODE_POINTS ? read : offset(MAX_CODE_POINTS);
    }
    // The kernels look up whole blocks of 64 classes, so the bytes after the last class must be
    // valid classes too.
    std::memset(classes() + filled, 0, PADDING);
  }

private:
  // classes()[-1] is the class of the code point before the buffer.
  alignas(64) std::array<std::uint8_t, PADDING + MAX_CODE_POINTS + 2 * PADDING> classes_;
  alignas(64) std::array<std::uint16_t, MAX_CODE_POINTS + PADDING> offsets_;
};

} // namespace pretok
