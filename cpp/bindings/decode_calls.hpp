// Calls of Tokenizer that decode.
#pragma once

#include "core/bpe/vocabulary.hpp"

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Returns the functions decode of (ids, errors, skip) and decode_bytes of (ids, skip) in a
// tuple.
//
// They do themselves what is usual: a list or tuple of ints, or an array of one dimension, in
// which each is a token's id. Everything else they hand to the functions of the same arguments
// in `others`. With `skip` they leave out the ids in `special`. They keep `owner` alive, whose
// `vocabulary`, with ids below `limit`, is.
pybind11::tuple make_decode_calls(const pybind11::object &owner, const Vocabulary &vocabulary,
                                  std::size_t limit, const std::vector<std::uint32_t> &special,
                                  const pybind11::tuple &others);

} // namespace pretok
