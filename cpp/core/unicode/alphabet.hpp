// An alphabet: the coarsest partition of the code points into classes that a program needs.
#pragma once

#include "core/unicode/classes.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace pretok {

// From `start` to the next range, a code point of atom a has class `class_map[a]`. Atoms are
// the parts of Unicode that properties tell apart: pretok/unicode/atoms.py.
struct AlphabetRange {
  std::uint32_t start;
  std::array<std::uint8_t, ATOM_COUNT> class_map;
};

// Ranges in ascending order; the first starts at 0.
using Alphabet = std::vector<AlphabetRange>;

} // namespace pretok
