// Calls of Tokenizer for one short text, past all that longer or stranger ones need.
#pragma once

#include "bindings/id_objects.hpp"

#include "core/encode/encoder.hpp"

#include <pybind11/pybind11.h>

namespace pretok {

// Returns the functions encode, encode_array and count of (text, special, errors) in a tuple.
//
// They do themselves what is usual: a short str, or bytes unless `only_str`, of ASCII if
// `only_ascii`, in NFC if `only_normal`, with a `special` that is "raise", "text" or "allow",
// no special token that is refused, and "replace" for `errors`. `added(special)` gives the
// AddedTokens for a policy. Everything else they hand to the functions of the same arguments in
// `others`. They keep `owner` alive, whose `encoder` and `objects` are.
pybind11::tuple make_direct_calls(const pybind11::object &owner, const Encoder &encoder,
                                  IdObjects &objects, const pybind11::object &added,
                                  const pybind11::tuple &others, bool only_str, bool only_ascii,
                                  bool only_normal);

} // namespace pretok
