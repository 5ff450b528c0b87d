// The metadata of a GGUF file: keys with values of any type. pretok/formats/gguf_metadata.py is
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
  std::uint64_t number = 0; // of an INTEGER or FLAG; the bits of a FLOAT
  bool negative = false;    // `number` is then the absolute value
  std::string_view text;
  std::vector<std::string_view> texts; // of STRINGS: UTF-8 each
  std::vector<std::int64_t> numbers;   // of NUMBERS; NOT_WHOLE for other values
  std::vector<char> bytes;             // `text` and `texts` are views of them
  static constexpr std::int64_t NOT_WHOLE = INT64_MIN;

  // Describes key and value for errors.
  std::string description() const;
};

// Reads the values of the keys values[i].key, and skips all other values. Memory holds only the
// keys and the values that are read.
LoadError read_gguf_metadata(ByteSource &file, std::vector<GgufValue> &values);

} // namespace pretok
