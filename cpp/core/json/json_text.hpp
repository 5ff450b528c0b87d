// Writes strings of JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pretok {

// Appends a text in UTF-8 as a string of JSON, with the escapes of json.dumps in Python, which
// with ensure_ascii=False escapes only quotes, backslashes and controls.
inline void append_json_string(std::string_view text, std::string &json) {
  constexpr std::string_view ESCAPED = "\"\\\n\r\t\f\b";
  constexpr std::string_view NAMES = "\"\\nrtfb";
  constexpr std::string_view DIGITS = "0123456789abcdef";
  json += '"';
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x20 && byte != '"' && byte != '\\')
      continue;
    json.append(text, done, at - done);
    const std::size_t name = ESCAPED.find(text[at]);
    if (name != std::string_view::npos)
      (json += '\\') += NAMES[name];
    else
      ((json += "\\u00") += DIGITS[byte >> 4]) += DIGITS[byte & 15];
    done = at + 1;
  }
  json.append(text, done);
  json += '"';
}

} // namespace pretok
