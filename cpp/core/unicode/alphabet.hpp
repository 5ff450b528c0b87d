// The classes of one program: the coarsest partition of the code points that its rules need.
#pragma once

#include "core/unicode/classes.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace pretok {

// From `first` on, a code point of atom a has class `classes[a]`.
struct AlphabetSegment {
  std::uint32_t first;
  std::array<std::uint8_t, ATOM_COUNT> classes;
};

// Segments ascending by `first`, from 0.
using Alphabet = std::vector<AlphabetSegment>;

} // namespace pretok
