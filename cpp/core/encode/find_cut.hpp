// Finds a position where an incomplete text can be cut.
#pragma once

#include "core/encode/encoder.hpp"
#include "core/encode/tokenizer.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Returns a safe cut of data[0..size), or 0 if it finds none. Encoding both parts gives the ids
// of the whole text, whatever text follows. `rest` says how the caller encodes the part after
// the cut: as a LATER part, or as a text of its own (FIRST), which may get a prefix. Searches
// from the end. The time is linear in the distance of the cut from the end, or in `size` if
// there is no cut.
std::size_t find_cut(const Encoder &encoder, const AddedTokenPhases &added,
                     Normalizer normalizer, const std::uint8_t *data, std::size_t size,
                     Encoder::Part rest = Encoder::Part::FIRST);

} // namespace pretok
