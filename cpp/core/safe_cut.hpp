// Where a text can be cut so that each part, split by itself, is split as in the whole.
#pragma once

#include "added.hpp"
#include "pre_tokenizer.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Returns the end of one of the last pre-tokens in data[0..size), such that the text up to
// there and the text from there on can be split by themselves, whatever comes after `size`; 0
// if none was found. `data` starts where a pre-token does. Of several stages the first decides:
// where it cuts, all that follow see two texts. (So there is none if it joins what it cuts.)
std::size_t safe_cut(const PreTokenizer &pre_tokenizer, const std::uint8_t *data,
                     std::size_t size);

// Returns a place behind `from`, `to` at most, where a text can be cut such that each part,
// encoded by itself, gives the ids that it gives in the whole; 0 if none was found.
// data[0..size) is what is around that: the same place is found in any text that has it there
// and goes on, if at least added.longest() bytes are before `from`, unless the text begins
// there. With `add_prefix_space`, what is behind the cut begins with a space.
//
// Why it is right. No added token begins from the last that ends before the cut up to the cut,
// nor at the cut, whatever comes after `to`; so none is across it or beside it, whatever
// `single_word` looks at. The white space that one takes along does not reach the cut, for no
// white space is before it. So the cut is within a text between added tokens. There it is
// behind a boundary that the rules have between any neighbours of these classes, and from that
// on it is as safe as what safe_cut returns.
std::size_t safe_cut_between(const PreTokenizer &pre_tokenizer, const AddedTokens &added,
                             bool add_prefix_space, const std::uint8_t *data, std::size_t size,
                             std::size_t from, std::size_t to);

} // namespace pretok
