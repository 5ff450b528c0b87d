// Making faults, and showing in them what a file has.
#pragma once

#include "formats/model.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace pretok {

inline Fault malformed(std::string message) { return {Fault::MALFORMED, std::move(message)}; }
inline Fault unsupported(std::string message) {
  return {Fault::UNSUPPORTED, std::move(message)};
}

// Text of a file in quotes, with escapes for all but printable ASCII, cut where it is long.
std::string shown(std::string_view text);

bool is_utf8(std::string_view text);

} // namespace pretok
