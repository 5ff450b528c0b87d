// Where a text can be cut so that each part, split by itself, is split as in the whole.
#pragma once

#include "machine.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Returns the end of one of the last pre-tokens in data[0..size), such that the text up to
// there and the text from there on can be split by themselves, whatever comes after `size`; 0
// if none was found. `data` starts where a pre-token does.
std::size_t safe_cut(const Machine &machine, const std::uint8_t *data, std::size_t size);

} // namespace pretok
