// From relations between neighbours to boundaries, 64 code points at a time.
#pragma once

#include "cuts.hpp"
#include "relations.hpp"
#include "stretch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

// What is known of the boundaries of a stretch: bit i of a word is the i-th of 64 code points,
// and says something of where it starts.
class Boundaries {
public:
  explicit Boundaries(const CutTable &table) : counted_(table.counted()) {}

  // Takes the stretch that follows, of `count` code points; what it says holds until the next.
  void resolve(const std::array<Masks, Stretch::MOST / 64> &masks, std::size_t count);

  // Boundaries, whatever is asked.
  std::array<std::uint64_t, Stretch::MOST / 64> cuts;
  // Boundaries, these and those, if nothing is asked since the last boundary.
  std::array<std::uint64_t, Stretch::MOST / 64> all;
  std::array<std::uint64_t, Stretch::MOST / 64> asks;
  // Bit k: something is asked in asks[k].
  std::uint32_t asked;

private:
  // Soft boundaries in runs of white space; see cuts.hpp. `next` has the masks of the block
  // that follows and `left` how many code points do, if they are known; tails begin at
  // `starts`.
  std::uint64_t white_space(const Masks &masks, const Masks *next, std::size_t count,
                            std::size_t left, std::uint64_t starts, std::uint64_t &ask);
  std::uint64_t counted(std::uint64_t pairs);

  const std::uint32_t counted_;
  // Of the code points before, the bit that matters, or 64 of them.
  std::uint64_t plain_ = 0;
  std::uint64_t changed_ = 0;
  std::array<std::uint64_t, 4> labels_{};
  std::uint64_t newline_ = 0;
  std::uint64_t tail_ = 0;
  std::uint64_t pairs_ = 0;
};

} // namespace pretok
