// Where a text can be cut so that each part, encoded by itself, has the ids of the whole.
#pragma once

#include "core/encode/added.hpp"
#include "core/split/pre_tokenizer.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

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
