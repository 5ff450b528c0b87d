// A JSON text in memory: all of its values in one list, in the order of the text.
#pragma once

#include "core/base/function_ref.hpp"
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

// The strings of a text, which they view. Owns the strings that have escapes in the text.
class JsonStrings {
public:
  // Reads a string that begins at `json`. Sets `text` to the string without its escapes.
  bool read(JsonReader &json, std::string_view &text);
  // Makes room for all strings of a text of `size` bytes, before any other call.
  void reserve(std::size_t size) { size_ = size; }

private:
  std::size_t size_ = 0;
  std::unique_ptr<std::uint8_t[]> unescaped_; // the strings, one after the other
  std::size_t used_ = 0;                      // bytes of unescaped_
};

// Says whether a function has read a list or object, so that the document skips it.
enum class JsonTaken { NO, YES, FAILED };

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
  // Does the same, and calls take(outer, name, json, strings) for each list or object in a
  // member `name` of an object in a member `outer` of the object in the text. If the result is
  // YES, the function has read the list or object, and the document has an empty one instead.
  // For any other result, the function does not move `json`.
  using Take = FunctionRef<JsonTaken(std::string_view outer, std::string_view name,
                                     JsonReader &json, JsonStrings &strings)>;
  bool read(std::string_view text, Take take);
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

  // Returns whether an object has two members of the same name.
  bool has_duplicate() const;

private:
  class Builder;

  std::string_view text_;
  std::vector<JsonValue> values_;
  JsonStrings strings_;
  std::size_t error_offset_ = 0;
};

} // namespace pretok
