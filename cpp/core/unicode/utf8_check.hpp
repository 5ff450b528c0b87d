// Checks whether bytes are well-formed UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pretok {

// The part of a code point that was read. AFTER_CODE_POINT: nothing is open. MALFORMED: a byte
// is not UTF-8. All other values say which bytes may come next.
enum class Utf8State : std::uint8_t { AFTER_CODE_POINT, MALFORMED = 6, LAST = 48 };

// Returns the state after data[0..size), which is `state` before. Text may come in blocks that
// end within code points.
Utf8State check_utf8(const std::uint8_t *data, std::size_t size, Utf8State state);

// Returns whether data[0..size) is well-formed UTF-8.
inline bool is_utf8(const std::uint8_t *data, std::size_t size) {
  return check_utf8(data, size, Utf8State::AFTER_CODE_POINT) == Utf8State::AFTER_CODE_POINT;
}

} // namespace pretok
