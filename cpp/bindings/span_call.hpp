// Encodes one text with the span of each id.
#pragma once

#include "bindings/id_objects.hpp"

#include "core/encode/encoder.hpp"

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace pretok {

// The number of spaces at both ends of each token, by id.
struct TokenSpaces {
  // The value for a token whose number of spaces depends on the text.
  static constexpr std::uint8_t UNKNOWN = 0xFF;

  std::vector<std::uint8_t> leading;
  std::vector<std::uint8_t> trailing;
  // The first token, and a token at the start of the text, keep a single leading space.
  bool keeps_first = false;
};

struct SpanOptions {
  bool only_ascii = false;
  bool only_normal = false;          // refuses text that is not in NFC
  std::optional<TokenSpaces> spaces; // to exclude from spans
};

// Returns a function of a text. It returns the list of ids, and the list of their spans: tuples
// (start, end) that count code points. It returns None unless `text` is a str without
// surrogates that meets `options`, and all its tokens have known spaces. The function keeps
// `owner`, the owner of `encoder` and `objects`, alive.
pybind11::object make_span_call(const pybind11::object &owner, const Encoder &encoder,
                                IdObjects &objects, const AddedTokens &added,
                                SpanOptions options);

} // namespace pretok
