// Making faults, and showing in them what a file has.
#pragma once

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

// Text of a file in quotes, with escapes for all but printable ASCII, cut where it is long.
std::string quoted(std::string_view text);

bool is_utf8(std::string_view text);

} // namespace pretok
