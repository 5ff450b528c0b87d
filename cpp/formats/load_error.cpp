#include "formats/load_error.hpp"

#include "core/unicode/utf8.hpp"

#include <cstdint>

namespace pretok {

std::string quote(std::string_view text) {
  constexpr std::size_t MAX_QUOTED = 40;
  constexpr char DIGITS[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char each : text.substr(0, MAX_QUOTED)) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\')
      quoted += each;
    else
      quoted += {'\\', 'x', DIGITS[byte >> 4], DIGITS[byte & 15]};
  }
  return quoted + (text.size() > MAX_QUOTED ? "\" ..." : "\"");
}

bool is_utf8(std::string_view text) {
  const auto *at = reinterpret_cast<const std::uint8_t *>(text.data());
  const std::uint8_t *const end = at + text.size();
  if (is_ascii(at, text.size()))
    return true;
  while (at != end) {
    const Decoded decoded = decode_utf8(at, static_cast<std::size_t>(end - at));
    if (decoded.width == 1 && decoded.code_point >= 0x80)
      return false;
    at += decoded.width;
  }
  return true;
}

} // namespace pretok
