// Finds a byte at which a text can be cut: encoding the two parts gives the ids of the whole
// text.
#pragma once

#include "core/encode/added.hpp"
#include "core/split/pre_tokenizer.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Returns such a cut after `from` and at most at `to`, or 0 if there is none. data[0..size) is
// the text around. At least added.longest() bytes must come before `from`, unless the text
// begins with `data`. Any text with the same bytes there has the same cut. With
// `add_prefix_space`, the part after the cut begins with a space.
//
// Proof. No added token spans or touches the cut, whatever text comes after `to`: clear_places
// gives only such positions. So `single_word` looks at no byte across the cut. A token with
// `rstrip` or `lstrip` takes no white space across the cut, since no white space is before the
// cut. So the cut lies within one text between added tokens. There safe_cut_in finds it, with
// the proof of safe_cut.hpp.
std::size_t safe_cut_between(const PreTokenizer &pre_tokenizer, const AddedTokens &added,
                             bool add_prefix_space, const std::uint8_t *data, std::size_t size,
                             std::size_t from, std::size_t to);

} // namespace pretok
