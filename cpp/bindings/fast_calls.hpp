// The fast path of Tokenizer calls for one short text.
#pragma once

#include "bindings/deferred_tokenizer.hpp"
#include "bindings/id_objects.hpp"

#include <pybind11/pybind11.h>

namespace pretok {

// Returns a tuple of the functions encode, encode_array and count. Each has the parameters
// (text, special, errors, threads=None).
//
// A call takes the fast path if all of these hold:
//   - `text` is a str; if `only_str` is false, it may also be bytes;
//   - `text` has fewer than MIN_SIZE_TO_RELEASE code units;
//   - if `only_ascii` is true, `text` is an ASCII str;
//   - `special` is a set, or "text", "allow", "raise" or "plain"; for "raise", `text` has no
//     special token;
//   - `errors` is "replace", and `threads` is None;
//   - these strings are interned, as literals in Python code are.
// Any other call goes to the function at the same index of `slow_calls`. make_added(special)
// returns the AddedTokens for a value of `special`. The functions keep `owner`, the owner of
// `tokenizers` and `objects`, alive.
pybind11::tuple make_fast_calls(const pybind11::object &owner,
                                const DeferredTokenizer &tokenizers, IdObjects &objects,
                                const pybind11::object &make_added,
                                const pybind11::tuple &slow_calls, bool only_str,
                                bool only_ascii);

// Encodes a text with `function`, an `encode` of make_fast_calls, on the fast path. Returns a
// list of the ids in the list `before`, the ids of the text, and the ids in the list `after`.
// Returns a null object if `function` is any other object, or if the fast path cannot take the
// call. Needs the GIL. Throws the Python error.
pybind11::object encode_between(PyObject *function, PyObject *text, PyObject *special,
                                PyObject *before, PyObject *after);

} // namespace pretok
