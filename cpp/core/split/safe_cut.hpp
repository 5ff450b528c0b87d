// Where a text can be cut so that each part, split by itself, is split as in the whole.
#pragma once

#include "core/split/pre_tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace pretok {

// Returns the end of one of the last pre-tokens in data[0..size), such that the text up to
// there and the text from there on can be split by themselves, whatever comes after `size`; 0
// if none was found. `data` starts where a pre-token does. Of several stages the first decides:
// where it cuts, all that follow see two texts. (So there is none if it joins what it cuts.)
std::size_t safe_cut(const PreTokenizer &pre_tokenizer, const std::uint8_t *data,
                     std::size_t size);

// Returns a place between `start` and `end` for which accepts(place) holds, such that the text
// up to there and the text from there on can be split by themselves; 0 if none was found. It
// depends on data[start..end) alone.
std::size_t safe_cut_in(const PreTokenizer &pre_tokenizer, const std::uint8_t *data,
                        std::size_t start, std::size_t end,
                        const std::function<bool(std::size_t)> &accepts);

} // namespace pretok
