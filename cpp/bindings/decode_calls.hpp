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
// an array of one dimension in which every item is an int and the id of a token. Any other call
// goes to the function at the same index of `slow_calls`. The functions keep `owner`, the owner
// of `vocabulary`, alive. The ids of all tokens must be below `limit`.
pybind11::tuple make_decode_calls(const pybind11::object &owner, const Vocabulary &vocabulary,
                                  std::size_t limit, const std::vector<std::uint32_t> &special,
                                  const pybind11::tuple &slow_calls);

} // namespace pretok
