// Word characters, for added tokens that are a single word: those of bpe/special.py.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace pretok {

// First and last code points of ranges, ascending.
using CodePointRanges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

CodePointRanges word_ranges();

} // namespace pretok
