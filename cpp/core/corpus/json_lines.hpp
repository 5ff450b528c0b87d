// Reads texts from lines of JSON: the string of one member of the object on each line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pretok {

// The text of a line: the bytes text[start..start + size) of the output of json_texts. If
// `is_known` is false, json_texts could not read the line, and another JSON parser must read
// it.
struct JsonText {
  std::size_t start = 0;
  std::size_t size = 0;
  bool is_known = false;
};

// Reads the string of the member `field` of each line of data[0..size). A line ends at "\n" or
// at the end of the data. Appends one JsonText for each line to `texts`, and writes the strings
// to `text` in UTF-8.
//
// A text is known only if the line meets these conditions:
//   - it is one valid JSON object in valid UTF-8, without lone surrogates;
//   - it has a member with this name, and all members with this name are strings (the last one
//     is the text);
//   - it has nothing that parsers treat differently: no member of the object has a name with an
//     escape, nesting is not deep, and no number is very long.
void json_texts(const std::uint8_t *data, std::size_t size, std::string_view field,
                std::vector<std::uint8_t> &text, std::vector<JsonText> &texts);

} // namespace pretok
