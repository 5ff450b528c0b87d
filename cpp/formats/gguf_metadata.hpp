// The metadata of a GGUF file: keys with values of any kind. bpe/formats/gguf_metadata.py is
// the twin.
#pragma once

#include "formats/byte_source.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

struct GgufValue {
  enum Kind { ABSENT, INTEGER, FLOAT, FLAG, STRING, STRINGS, NUMBERS } kind = ABSENT;
  std::string_view key;
  std::uint64_t number = 0; // of an INTEGER, or FLAG, or the bits of a FLOAT
  bool negative = false;    // then `number` is the distance from 0
  std::string_view text;
  std::vector<std::string_view> texts; // of STRINGS: UTF-8 each
  std::vector<std::int64_t> numbers;   // of NUMBERS; NOT_WHOLE for what is no whole number
  std::vector<char> bytes;             // that `text` and `texts` are views of
  static constexpr std::int64_t NOT_WHOLE = INT64_MIN;

  // What it is, for errors.
  std::string description() const;
};

// Reads the values of the keys that values[i].key names; skips all others. Needs memory for the
// values that it reads, and for keys.
LoadError read_gguf_metadata(ByteSource &file, std::vector<GgufValue> &values);

} // namespace pretok
