// The fast path of Tokenizer calls that decode tokens of text.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

namespace pretok {

// Returns the function decode(ids, errors, skip) for tokens that have texts, and for fallback
// tokens of bytes. make_texts() is called once and returns (bytes, lengths, ids, spaced, start,
// stop, repeats): the bytes of the tokens, in ascending order of ids, and the number of spaces
// to strip: up to `start` at the start of the joined text, and up to `stop` at its end. If
// `spaced` is a list of ids, a space is stripped only if the first token with text is in the
// list. `repeats` says that the next token may then lose its space too.
//
// The fast path handles the ids that make_decode_calls handles, if the joined bytes are valid
// UTF-8. The text of a token that is not a fallback token is valid by itself. So if the joined
// bytes are valid, each run of fallback tokens is valid too.
pybind11::object make_text_decode_call(const pybind11::object &make_texts,
                                       const std::vector<std::uint32_t> &special,
                                       const pybind11::object &slow_call);

} // namespace pretok
