// Encodes one text with the span of each id.
#pragma once

#include "bindings/id_objects.hpp"
#include "bindings/span_objects.hpp"

#include "core/encode/encoder.hpp"

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace pretok {

// The numbers of spaces at the start and at the end of each token.
struct TokenSpaces {
  // The value of `leading` for a token whose number of spaces depends on the text.
  static constexpr std::uint8_t UNKNOWN = 0xFF;

  struct Count {
    std::uint8_t leading;
    std::uint8_t trailing;
  };

  std::vector<Count> counts; // by id
  // If true, a single leading space stays in the span of the first token, and of any other
  // token whose span starts at the start of the text.
  bool keeps_first = false;
};

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
// The function keeps `owner`, the owner of `encoder`, `objects` and `spans`, alive.
pybind11::object make_span_call(const pybind11::object &owner, const Encoder &encoder,
                                IdObjects &objects, SpanObjects &spans,
                                const AddedTokens &added, SpanOptions options);

} // namespace pretok
