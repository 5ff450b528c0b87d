// Safe cuts of a text: both sides, split by themselves, give the pre-tokens of the whole.
#pragma once

#include "core/split/pre_tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace pretok {

// Returns the last safe cut found in data[0..size), or 0. It is the end of a pre-token, and
// safe whatever text follows. `data` starts a pre-token. The first of several stages decides,
// since later stages see the pieces that it makes. There is no safe cut if it merges pieces.
std::size_t safe_cut(const PreTokenizer &pre_tokenizer, const std::uint8_t *data,
                     std::size_t size);

// Returns a safe cut between `start` and `end` for which accepts(cut) is true, or 0. The result
// depends on data[start..end) only.
std::size_t safe_cut_in(const PreTokenizer &pre_tokenizer, const std::uint8_t *data,
                        std::size_t start, std::size_t end,
                        const std::function<bool(std::size_t)> &accepts);

} // namespace pretok
