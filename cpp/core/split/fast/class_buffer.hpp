// A stretch of text as the fast path sees it: the class of each code point, in a row.
#pragma once

#include "core/split/fast/relations.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

// Blocks of 64 code points of a stretch, at most.
inline constexpr std::size_t BLOCKS = 16;

// For each block a word, and in it for each code point a bit.
using BitWords = std::array<std::uint64_t, BLOCKS>;

// For every relation, where it holds between a code point and the one before.
using RelationBits = std::array<BitWords, RELATIONS>;

// Boundaries of a stretch, as far as labels tell them; see Boundaries.
struct BoundaryBits {
  BitWords certain;
  BitWords all;
  BitWords unresolved;
  BitWords changed; // where labels change
};

// What the next stretch needs of the one before: of its last block, the pairs that have a
// label, where labels changed, and their bits.
struct Carry {
  std::uint64_t plain = 0;
  std::uint64_t changed = 0;
  std::array<std::uint64_t, 4> labels{};
};

struct ClassBuffer {
  // Code points, at most; fewer only where the text ends.
  static constexpr std::size_t MAX_CODE_POINTS = 64 * BLOCKS;
  // How much kernels may write behind that.
  static constexpr std::size_t PADDING = 64;

  std::size_t count = 0;     // code points
  std::size_t units = 0;     // of the text
  bool one_unit_each = true; // whether every code point takes one unit

  std::uint8_t *classes() { return classes_.data() + PADDING; }
  // Where each code point starts, in units from the start of the stretch, unless `even`.
  std::uint16_t *offsets() { return offsets_.data(); }
  std::size_t offset(std::size_t at) const { return one_unit_each ? at : offsets_[at]; }
  std::size_t blocks() const { return (count + 63) / 64; }

  // Offsets so far: of `filled` code points that take one unit each.
  void start_offsets(std::size_t filled) {
    for (std::size_t i = 0; i < filled; ++i)
      offsets_[i] = static_cast<std::uint16_t>(i);
    one_unit_each = false;
  }

  // Ends reading: `filled` code points, `read` units, of a text of which that is all or
  // not.
  void finish(std::size_t filled, std::size_t read, bool all) {
    count = filled;
    units = read;
    if (filled > MAX_CODE_POINTS || !all) {
      count = MAX_CODE_POINTS;
      units = filled == MAX_CODE_POINTS ? read : offset(MAX_CODE_POINTS);
    }
    std::memset(classes() + filled, 0, PADDING);
  }

private:
  // classes()[-1] is the class before the stretch.
  alignas(64) std::array<std::uint8_t, PADDING + MAX_CODE_POINTS + 2 * PADDING> classes_;
  alignas(64) std::array<std::uint16_t, MAX_CODE_POINTS + PADDING> offsets_;
};

} // namespace pretok
