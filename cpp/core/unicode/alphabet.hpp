// An alphabet partitions the code points into classes, for one set of rules (a Program,
// split/program.hpp). Two code points share a class if every one of these rules treats them
// alike.
#pragma once

#include "core/unicode/classes.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace pretok {

// The code points from `start` to the start of the next range. A code point of atom a has class
// `class_map[a]`. An atom is a set of code points that are equal in every Unicode property that
// rules use (pretok/unicode/atoms.py).
struct AlphabetRange {
  std::uint32_t start;
  std::array<std::uint8_t, ATOM_COUNT> class_map;
};

// Ranges in ascending order. The first range starts at 0.
using Alphabet = std::vector<AlphabetRange>;

} // namespace pretok
