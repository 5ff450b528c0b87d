// The classes of one program: the coarsest partition of the code points that its rules need.
#pragma once

#include "core/unicode/classes.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace pretok {

// From `first` on, a code point of atom a has class `classes[a]`.
struct AlphabetRange {
  std::uint32_t start;
  std::array<std::uint8_t, ATOM_COUNT> class_map;
};

// Segments ascending by `first`, from 0.
using Alphabet = std::vector<AlphabetRange>;

} // namespace pretok
