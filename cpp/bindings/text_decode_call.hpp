// The fast path of Tokenizer calls that decode tokens of text.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

namespace pretok {

// Returns the function decode(ids, errors, skip) for tokens that have texts, and for fallback
// tokens of bytes. make_texts() is called once and returns (bytes, lengths, ids, spaced, start,
// stop, repeats): the UTF-8 of the tokens, in ascending order of ids, and what to strip of the
// joined text: up to `start` and `stop` spaces at its ends. If `spaced` is a list of ids, a
// space is stripped only if the first token with text is among them. `repeats` says that the
// next token may then lose its space too.
//
// The fast path handles the ids that make_decode_calls handles, if the bytes, joined, are valid
// UTF-8. The text of each other token is valid, so each run of fallback tokens then is.
pybind11::object make_text_decode_call(const pybind11::object &make_texts,
                                       const std::vector<std::uint32_t> &special,
                                       const pybind11::object &slow_call);

} // namespace pretok
