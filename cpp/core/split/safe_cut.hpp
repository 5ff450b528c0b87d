// Safe cuts. A cut of a text is safe if the pre-tokens of its two sides, each split as a text
// of its own, are those of the whole text.
#pragma once

#include "core/split/pre_tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace pretok {

// Returns the last safe cut found in data[0..size), or 0. The cut is the end of a pre-token,
// and safe whatever text follows. `data` starts a pre-token. There is no safe cut if the first
// stage is not ISOLATED.
//
// Most cuts are a BOUNDARY of all stages (neighbors.hpp). The split before a BOUNDARY depends
// on at most one code point after it. So safe_cut splits the text since the previous BOUNDARY
// twice, with and without that code point, and compares. If no BOUNDARY is safe, it tries the
// ends of pre-tokens of the first stage, since later stages see only its pieces.
std::size_t safe_cut(const PreTokenizer &pre_tokenizer, const std::uint8_t *data,
                     std::size_t size);

// Returns a safe cut between `start` and `end` for which accepts(cut) is true, or 0. The result
// depends on data[start..end) only.
std::size_t safe_cut_in(const PreTokenizer &pre_tokenizer, const std::uint8_t *data,
                        std::size_t start, std::size_t end,
                        const std::function<bool(std::size_t)> &accepts);

} // namespace pretok
