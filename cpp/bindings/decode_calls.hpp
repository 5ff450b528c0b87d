// The fast path of Tokenizer calls that decode.
#pragma once

#include "bindings/deferred_tokenizer.hpp"

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Returns a tuple of the functions decode(ids, errors, skip) and decode_bytes(ids, skip). If
// `skip` is true, a call omits the ids in `special`. The fast path handles a list, a tuple or
// an array of one dimension in which every item is an int and the id of a token. Any other call
// goes to the function at the same index of `slow_calls`. The functions keep `owner`, the owner
// of `tokenizers`, alive. The ids of all tokens must be below `limit`.
pybind11::tuple make_decode_calls(const pybind11::object &owner,
                                  const DeferredTokenizer &tokenizers, std::size_t limit,
                                  const std::vector<std::uint32_t> &special,
                                  const pybind11::tuple &slow_calls);

// Returns the function decode(ids, errors, skip) for tokenizers whose tokens are text, not
// bytes. It joins the texts of tokens, and the bytes of fallback tokens (such as <0x0A>), and
// strips spaces at both ends.
//
// The first call calls make_texts(), which returns (bytes, lengths, ids, spaced, start, stop,
// repeats):
//   - `bytes` has the bytes of all tokens, in ascending order of ids. `lengths` and `ids` have
//     the number of bytes and the id of each token.
//   - `start` and `stop` are the maximum numbers of spaces to strip at the start and at the end
//     of the joined text.
//   - `spaced` is None, or a list of ids. If it is a list, it must contain the first token that
//     is not empty; otherwise no space is stripped at the start.
//   - `repeats` says that, if the first token is only a space, the next token may lose its
//     space too.
//
// The joined bytes of the tokens must be valid UTF-8; otherwise `slow_call` handles the call.
// It is enough to check the joined bytes: tokens that are not fallback tokens are valid UTF-8,
// so each run of fallback tokens is valid too.
pybind11::object make_text_decode_call(const pybind11::object &make_texts,
                                       const std::vector<std::uint32_t> &special,
                                       const pybind11::object &slow_call);

} // namespace pretok
