// From relations between neighbours to boundaries, 64 code points at a time.
#pragma once

#include "core/simd/kernels.hpp"
#include "core/split/fast/class_buffer.hpp"
#include "core/split/fast/neighbors.hpp"
#include "core/split/fast/relations.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

// What is known of the boundaries of a stretch: bit i of a word is the i-th of 64 code points,
// and says something of where it starts. In `cuts` there are boundaries, whatever is asked; in
// `all` these and those that are some if nothing is asked since the last boundary; and in
// `asks` what is asked.
class Boundaries : public BoundaryBits {
public:
  explicit Boundaries(const NeighborTable &table)
      : length_limit_(table.length_limit()), has_exact_limit_(table.has_exact_limit()),
        label_bits_(table.label_bits()) {}

  // Takes the stretch that follows, of `count` code points; what it says holds until the next.
  void resolve(const Kernels &use, const RelationBits &relation_bits, std::size_t count);

private:
  // Soft boundaries in runs of white space of a block; see neighbors.hpp. `left` code points
  // follow in the stretch; tails begin at `starts`.
  std::uint64_t white_space(const RelationBits &relation_bits, std::size_t block,
                            std::size_t here, std::size_t left, std::uint64_t starts,
                            std::uint64_t &unresolved_bits);
  // Soft boundaries where at_most says so, or else what is to be asked.
  std::uint64_t limit_lengths(std::uint64_t pairs);

  const std::uint32_t length_limit_;
  const bool has_exact_limit_;
  const unsigned label_bits_;
  // Of the code points before, the bit that matters, or 64 of them.
  Carry carry_;
  std::uint64_t newline_ = 0;
  std::uint64_t tail_ = 0;
  std::uint64_t limited_pairs_ = 0;
  std::uint64_t too_long_ = 0;
  std::uint64_t limits_ = 0;
};

} // namespace pretok
