// Character classes (alphabet.hpp) and masks, which are sets of classes.
// pretok/charsets/alphabet.py has the same constants.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pretok {

// A set of classes: bit c stands for class c.
using Mask = std::uint32_t;

// The class of the end of the text. No mask of a character set has this bit, so every run stops
// at the end of the text.
inline constexpr std::uint8_t END = 31;

// The number of atoms (alphabet.hpp).
inline constexpr std::size_t ATOM_COUNT = 17;
// Every code point is below this limit.
inline constexpr std::uint32_t CODE_POINTS = 0x110000;

// Returns whether `mask` contains the class.
inline bool has(Mask mask, std::uint8_t class_) { return mask >> class_ & 1; }

} // namespace pretok
