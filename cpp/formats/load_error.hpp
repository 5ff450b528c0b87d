// Makes LoadErrors, and quotes the contents of files in messages.
#pragma once

#include "core/unicode/utf8.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace pretok {

inline LoadError malformed(std::string message) {
  return {LoadError::MALFORMED, std::move(message)};
}
inline LoadError unsupported(std::string message) {
  return {LoadError::UNSUPPORTED, std::move(message)};
}

// Returns `text` in quotes. Escapes quotes, backslashes, and all bytes other than printable
// ASCII. Truncates long text.
std::string quote(std::string_view text);

} // namespace pretok
