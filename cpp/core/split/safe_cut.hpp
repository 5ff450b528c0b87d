// Safe cuts of a text: both sides, split by themselves, give the pre-tokens of the whole.
#pragma once

#include "core/split/pre_tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace pretok {

// Returns the last safe cut found in data[0..size), or 0. It is the end of a pre-token, and
// safe whatever text follows. `data` starts a pre-token. There is no safe cut if the first
// stage merges pieces.
//
// Most cuts are a BOUNDARY of all stages (neighbors.hpp), which two code points show. The text
// before it depends on the code point after it, and on no other after it. So the text since the
// BOUNDARY before is split twice, with and without that code point. Otherwise, a cut may be the
// end of a pre-token of the first stage, since later stages see the pieces that it makes.
std::size_t safe_cut(const PreTokenizer &pre_tokenizer, const std::uint8_t *data,
                     std::size_t size);

// Returns a safe cut between `start` and `end` for which accepts(cut) is true, or 0. The result
// depends on data[start..end) only.
std::size_t safe_cut_in(const PreTokenizer &pre_tokenizer, const std::uint8_t *data,
                        std::size_t start, std::size_t end,
                        const std::function<bool(std::size_t)> &accepts);

} // namespace pretok
