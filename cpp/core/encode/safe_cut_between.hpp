// Finds a safe cut of a text: encoding the two parts gives the ids of the whole text.
#pragma once

#include "core/encode/encoder.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Returns a safe cut in the range from < cut <= to, or 0 if it finds none. At least
// added.longest() bytes must come before `from`, unless the text begins at `data`. The result
// depends only on data[0..to).
//
// Proof. AddedTokens::clear_places gives a range of positions. A token may end at the first of
// them, but no token contains or touches the others, whatever text comes after `to`. The cut is
// never the first one. So `single_word` looks at no byte across the cut. If there are tokens
// with `rstrip` or `lstrip`, no white space is right before the cut, so these tokens take no
// white space across it. So the cut lies within one part between added tokens. In this part
// safe_cut_in finds it, with the proof of safe_cut.hpp.
//
// If `encoder` is not nullptr, it encodes both parts, and the cut may lie within a pre-token
// where no merge joins its sides (Encoder::divides).
std::size_t safe_cut_between(const PreTokenizer &pre_tokenizer, const Encoder *encoder,
                             const AddedTokens &added, const std::uint8_t *data,
                             std::size_t from, std::size_t to);

} // namespace pretok
