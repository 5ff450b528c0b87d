// Finds a position where an incomplete text can be cut.
#pragma once

#include "core/encode/encoder.hpp"
#include "core/encode/tokenizer.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// A safe cut before byte `position` of data[0..size), which depends only on data[first..size).
// If `first` is not 0, the cut is safe whatever text comes before data[first].
struct Cut {
  std::size_t position = 0; // 0: there is no cut
  std::size_t first = 0;
};

// Returns a safe cut of data[0..size). Encoding the part before it and, as a LATER part, the
// part after it gives the ids of the whole text, whatever text follows. Searches from the end,
// also before the last added tokens. The time is linear in the distance of the cut from the
// end, or in `size` if there is no cut.
Cut find_cut(const Encoder &encoder, const AddedTokenPhases &added, Normalizer normalizer,
             const std::uint8_t *data, std::size_t size);

} // namespace pretok
