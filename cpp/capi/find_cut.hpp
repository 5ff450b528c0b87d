// Where a text that goes on can be cut.
#pragma once

#include "capi/encode_call.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Returns a place in data[0..size) such that the ids of what is before it and those of what is
// behind it, whatever comes behind `size`, are together those of the whole; 0 if none was
// found. Places near the end are looked at first: the time is linear in how far back it is, or
// in `size`.
std::size_t find_cut(const EncodeCall &call, const std::uint8_t *data, std::size_t size);

} // namespace pretok
