// The fast path of Tokenizer calls for one short text.
#pragma once

#include "bindings/id_objects.hpp"

#include "core/encode/tokenizer.hpp"

#include <pybind11/pybind11.h>

namespace pretok {

// Returns a tuple of the functions encode, encode_array and count of (text, special, errors).
//
// A call takes the fast path if all of these hold:
//   - `text` is a short str, or short bytes unless `only_str`;
//   - `text` is ASCII, or `only_ascii` is false;
//   - `special` is "raise", "text" or "allow", and no special token is refused;
//   - `errors` is "replace".
// Any other call goes to the function at the same index of `slow_calls`. `make_added(special)`
// returns the AddedTokens for a value of `special`. The functions keep `owner`, the owner of
// `encoder` and `objects`, alive.
pybind11::tuple make_fast_calls(const pybind11::object &owner, const Encoder &encoder,
                                IdObjects &objects, const pybind11::object &make_added,
                                const pybind11::tuple &slow_calls, bool only_str,
                                bool only_ascii, Normalizer normalizer);

} // namespace pretok
