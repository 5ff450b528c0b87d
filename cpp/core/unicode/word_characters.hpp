// Word characters: the code points that `\w` matches in Rust's regex. An added token with
// `single_word` is found only if no word character is next to it. bpe/encoding/added_tokens.py
// has the same ranges.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace pretok {

// The first and the last code point of each range. The ranges are in ascending order.
using CodePointRanges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// Returns the ranges of all word characters.
CodePointRanges word_ranges();

} // namespace pretok
