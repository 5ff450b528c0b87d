// Reads the metadata of a GGUF file: keys, and a value of any type for each key.
// pretok/formats/gguf_metadata.py does the same in Python.
#pragma once

#include "formats/byte_source.hpp"
#include "formats/load_error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

// The types of values, and their sizes in bytes. Strings and arrays have no fixed size.
struct Gguf {
  enum : std::uint32_t {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    BOOL,
    STRING,
    ARRAY,
    U64,
    I64,
    F64,
    COUNT
  };
  static constexpr std::array<std::size_t, COUNT> WIDTHS = {1, 1, 2, 2, 4, 4, 4,
                                                            1, 0, 0, 8, 8, 8};
};

// The value of a key. The comment of a member names the kinds of values that use the member.
struct GgufValue {
  enum Kind { ABSENT, INTEGER, FLOAT, FLAG, STRING, STRINGS, NUMBERS } kind = ABSENT;
  std::string_view key;
  std::uint64_t number = 0;            // INTEGER, FLAG: the absolute value; FLOAT: the bits
  bool negative = false;               // INTEGER: whether the value is below 0
  std::string_view text;               // STRING
  std::vector<std::string_view> texts; // STRINGS, in UTF-8
  std::vector<std::int64_t> numbers;   // NUMBERS; NOT_WHOLE in place of each float or bool
  std::vector<float> floats;           // NUMBERS, if the elements are floats of 32 bits
  std::vector<char> bytes;             // the bytes that `text` and `texts` view
  static constexpr std::int64_t NOT_WHOLE = INT64_MIN;

  // Returns "KEY is VALUE" for error messages.
  std::string description() const;
};

// Sets each values[i] to the value of the key values[i].key. Skips the values of all other
// keys, and does not keep them in memory. If a key is missing, values[i] stays ABSENT.
LoadError read_gguf_metadata(ByteSource &file, std::vector<GgufValue> &values);

} // namespace pretok
