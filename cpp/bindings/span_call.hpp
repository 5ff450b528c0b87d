// Encodes one text with the span of each id.
#pragma once

#include "bindings/id_objects.hpp"
#include "bindings/span_objects.hpp"
#include "bindings/token_shapes.hpp"

#include "core/encode/encoder.hpp"

#include <pybind11/pybind11.h>

#include <cstddef>
#include <optional>

namespace pretok {

struct SpanOptions {
  bool only_ascii = false;           // return None for text that is not ASCII
  bool only_normal = false;          // return None for text that is not in NFC
  std::optional<TokenSpaces> spaces; // spaces to exclude from spans
};

// Returns a Python function encode_with_spans(text). It returns a list of ids, and a list of
// their spans: tuples (start, end) that count code points. It returns None in these cases:
//   - `text` is not a str, or has a surrogate;
//   - `options` exclude the text;
//   - `text` has a special token that `added` refuses;
//   - the number of spaces of a token is unknown.
// `limit` is the largest id of `vocabulary` plus one. The function keeps `owner` alive,
// which owns `encoder`, `objects` and `spans`.
pybind11::object make_span_call(const pybind11::object &owner, const Encoder &encoder,
                                const Vocabulary &vocabulary, std::size_t limit,
                                IdObjects &objects, SpanObjects &spans,
                                const AddedTokens &added, const SpanOptions &options);

struct IdsAndSpans {
  pybind11::list ids;
  pybind11::list spans;
};

// Calls `function`, a result of make_span_call. Adds the ids in the lists `before` and `after`,
// whose spans are (0, 0), around its result. `text` is a str without surrogates.
// Returns nothing if `function` returns None, or was not made by make_span_call. Needs the GIL.
// Throws the Python error.
std::optional<IdsAndSpans> encode_with_spans(PyObject *function, PyObject *text,
                                             PyObject *before, PyObject *after);

} // namespace pretok
