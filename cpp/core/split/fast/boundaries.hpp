// From relations between neighbours to boundaries, 64 code points at a time.
#pragma once

#include "core/simd/kernels.hpp"
#include "core/split/fast/cuts.hpp"
#include "core/split/fast/relations.hpp"
#include "core/split/fast/stretch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

// What is known of the boundaries of a stretch: bit i of a word is the i-th of 64 code points,
// and says something of where it starts. In `cuts` there are boundaries, whatever is asked; in
// `all` these and those that are some if nothing is asked since the last boundary; and in
// `asks` what is asked.
class Boundaries : public Bounds {
public:
  explicit Boundaries(const CutTable &table)
      : counted_(table.counted()), exact_(table.exact()), label_bits_(table.label_bits()) {}

  // Takes the stretch that follows, of `count` code points; what it says holds until the next.
  void resolve(const Kernels &use, const Masks &masks, std::size_t count);

private:
  // Soft boundaries in runs of white space of a block; see cuts.hpp. `left` code points follow
  // in the stretch; tails begin at `starts`.
  std::uint64_t white_space(const Masks &masks, std::size_t block, std::size_t here,
                            std::size_t left, std::uint64_t starts, std::uint64_t &ask);
  // Soft boundaries where at_most says so, or else what is to be asked.
  std::uint64_t counted(std::uint64_t pairs);

  const std::uint32_t counted_;
  const bool exact_;
  const unsigned label_bits_;
  // Of the code points before, the bit that matters, or 64 of them.
  Edge edge_;
  std::uint64_t newline_ = 0;
  std::uint64_t tail_ = 0;
  std::uint64_t pairs_ = 0;
  std::uint64_t over_ = 0;
  std::uint64_t limits_ = 0;
};

} // namespace pretok
