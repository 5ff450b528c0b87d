// The fast path of Tokenizer calls that decode.
#pragma once

#include "core/bpe/vocabulary.hpp"

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Returns a tuple of the functions decode(ids, errors, skip) and decode_bytes(ids, skip). If
// `skip` is true, a call omits the ids in `special`. The fast path handles a list, a tuple or
// an array of one dimension if each item is an int and the id of a token. Any other call goes
// to the function at the same index of `slow_calls`. The functions keep `owner`, the owner of
// `vocabulary`, alive. The ids of all tokens are below `limit`.
pybind11::tuple make_decode_calls(const pybind11::object &owner, const Vocabulary &vocabulary,
                                  std::size_t limit, const std::vector<std::uint32_t> &special,
                                  const pybind11::tuple &slow_calls);

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
