// A JSON text in memory: all of its values in one list, in the order of the text.
#pragma once

#include "core/json/json_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace pretok {

enum class JsonKind : std::uint8_t {
  STRING,
  NUMBER,
  TRUE_WORD,
  FALSE_WORD,
  NULL_WORD,
  LIST,
  OBJECT
};

struct JsonValue {
  const char *start; // of a string without its escapes, or of the value in the text
  // The bytes of a string or a scalar. For a list or object, the number of values in it, with
  // the names of its members and the values in its values.
  std::uint32_t size;
  JsonKind kind;

  bool is_container() const { return kind == JsonKind::LIST || kind == JsonKind::OBJECT; }
  std::string_view text() const { return {start, size}; } // of a string or a scalar
};

//   text     {"a": [1, 2], "b": true}
//   values   {6   "a"   [2   1   2   "b"   true
//
// The value after a list or object that is not in it is at place + 1 + size.
class JsonDocument {
public:
  // Reads `text`, which must outlive the document and have less than 4 GB. Returns false if it
  // is not valid JSON in UTF-8, or if parsers treat it differently (JsonReader). Takes linear
  // time and space.
  bool read(std::string_view text);
  // Returns where `read` failed, in bytes.
  std::size_t error_offset() const { return error_offset_; }

  const JsonValue &operator[](std::size_t place) const { return values_[place]; }
  // Returns the place of the value after the value at `place`, and after all values in it.
  std::size_t after(std::size_t place) const {
    return place + 1 + (values_[place].is_container() ? values_[place].size : 0);
  }
  std::size_t size() const { return values_.size(); }
  // Returns the JSON text of a list or object.
  std::string_view json(std::size_t place) const;

  // Returns whether an object has two members of the same name. Does not look into the value at
  // the place `except`.
  bool has_duplicate(std::size_t except) const;

private:
  class Builder;

  std::string_view text_;
  std::vector<JsonValue> values_;
  std::unique_ptr<std::uint8_t[]> unescaped_; // the strings that have escapes in the text
  std::size_t error_offset_ = 0;
};

} // namespace pretok
