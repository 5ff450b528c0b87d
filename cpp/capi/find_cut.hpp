// Finds a position where an incomplete text can be cut.
#pragma once

#include "capi/encode_call.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Returns a position in data[0..size) where a cut does not change the ids: the ids of both
// parts equal those of the whole, whatever text follows data[size - 1]. Returns 0 if it finds
// none. Searches from the end. Time is linear in the distance from the end, or in `size`.
std::size_t find_cut(const EncodeCall &call, const std::uint8_t *data, std::size_t size);

} // namespace pretok
