// The metadata of a GGUF file: keys with values of any type. pretok/formats/gguf_metadata.py
// does the same in Python.
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
  std::uint64_t number = 0;            // INTEGER, FLAG: the absolute value; FLOAT: the bits
  bool negative = false;               // INTEGER: the sign
  std::string_view text;               // STRING
  std::vector<std::string_view> texts; // STRINGS: each is UTF-8
  std::vector<std::int64_t> numbers;   // NUMBERS; NOT_WHOLE stands for a value of another type
  std::vector<char> bytes;             // the bytes that `text` and `texts` view
  static constexpr std::int64_t NOT_WHOLE = INT64_MIN;

  // Describes key and value for errors.
  std::string description() const;
};

// Reads the values of the keys values[i].key, and skips all other values. Keeps only the keys
// and these values in memory.
LoadError read_gguf_metadata(ByteSource &file, std::vector<GgufValue> &values);

} // namespace pretok
