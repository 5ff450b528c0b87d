// Computes boundaries from the relations between neighbors (neighbors.hpp), 64 code points at a
// time.
//
// Each word of 64 bits stands for a block of 64 code points. Bit i stands for code point i of
// the block: for the pair of code points i - 1 and i, or the boundary before code point i. One
// block passes through these steps. The example is the text "I ate  12345 !" in cl100k's split.
// The text has 14 code points, so the steps show only bits 0 to 13:
//
//   read_utf8            text            I _ a t e _ _ 1 2 3 4 5 _ !     (_ is a space)
//                        class           0 4 0 0 0 4 4 2 2 2 2 2 4 1     ClassBuffer
//                           |
//   classify_pairs       BOUNDARY        1 1 . . . 1 . 1 . . . . 1 .     RelationBits: one
//                        SPACE_PAIR      . . . . . . 1 . . . . . . .     word for each
//                        LENGTH_LIMITED  . . . . . . . . 1 1 1 1 . .     relation, found by two
//                        LABEL (bit 0)   . . . . . . . . . . . . . 1     table look-ups and an
//                        LABEL (bit 1)   . . . . . . . . 1 1 1 1 . .     AND
//                           |
//   resolve_labels       certain         1 1 . . . 1 . 1 . . . . 1 .     BoundaryBits: BOUNDARY
//                        all             1 1 . . . 1 . 1 . . . . 1 .     and changes of label
//                           |
//   limit_lengths        all             . . . . . . . . . . 1 . . .     \p{N}{1,3}: after 123
//   white_space          all             . . . . . . 1 . . . . . . .     \s+(?!\S): before the
//                           |                                            last space
//   Splitter             unresolved      . . . . . . . . . . . . . .     no unresolved pair
//                           |
//   bits_to_positions    ends            1 5 6 7 10 12 14                positions of `all`,
//                                                                        and the text's end
#pragma once

#include "core/simd/kernels.hpp"
#include "core/split/fast/class_buffer.hpp"
#include "core/split/fast/neighbors.hpp"
#include "core/split/fast/relations.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// The boundaries of one ClassBuffer.
class Boundaries : public BoundaryBits {
public:
  explicit Boundaries(const NeighborTable &table)
      : length_limit_(table.length_limit()), has_exact_limit_(table.has_exact_limit()),
        has_joined_(table.has_joined()), label_bits_(table.label_bits()) {}

  // Fills the BoundaryBits for the next `count` code points of the text.
  void resolve(const Kernels &use, const RelationBits &relation_bits, std::size_t count);

private:
  // Returns the boundaries in the runs of white space of a block of `here` code points, and
  // adds unresolved pairs to `unresolved_bits`. neighbors.hpp has the proof. `left` code points
  // of the buffer follow the block. Each bit of `starts` is a TAIL_PAIR at which the tail of a
  // Run begins.
  std::uint64_t white_space(const RelationBits &relation_bits, std::size_t block,
                            std::size_t here, std::size_t left, std::uint64_t starts,
                            std::uint64_t &unresolved_bits);
  // Returns the boundaries that `at_most` of a Run adds among `pairs`, the LENGTH_LIMITED pairs
  // of a block. If the limit is not exact (NeighborTable::has_exact_limit), returns the pairs
  // that are unresolved because of the limit.
  std::uint64_t limit_lengths(std::uint64_t pairs);

  const std::uint32_t length_limit_;
  const bool has_exact_limit_;
  const bool has_joined_;
  const unsigned label_bits_;
  // State of the previous block. newline_ is 1 if the last code point of that block is a line
  // break, else 0. tail_ is 1 if a tail may continue after that block, else 0. limited_pairs_,
  // too_long_ and limits_ are the words `pairs`, `too_long` and `limits` of limit_lengths.
  Carry carry_;
  std::uint64_t newline_ = 0;
  std::uint64_t tail_ = 0;
  std::uint64_t limited_pairs_ = 0;
  std::uint64_t too_long_ = 0;
  std::uint64_t limits_ = 0;
};

} // namespace pretok
