// Encodes segments of strs and bytes without prior work in Python.
#pragma once

#include "bindings/deferred_tokenizer.hpp"

#include <pybind11/pybind11.h>

namespace pretok {

namespace py = pybind11;

// Encodes segments as one text. A segment is a text or (text, policy); the policy of a text is
// `special`. `searches` has the AddedTokens of each policy. Returns (ids, ends, starts, stops):
// the ids, the numbers of ids that begin before the end of each segment, and the spans of the
// ids in bytes of all segments. Returns None for other segments or policies, and for a refused
// token; the caller then encodes them in another way.
py::object encode_segments(const DeferredTokenizer &tokenizers, const py::list &segments,
                           const py::dict &searches, const py::object &special);

} // namespace pretok
