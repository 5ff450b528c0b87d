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
  const auto skip_character = [&] {
    const Decoded decoded = decode_utf8(at, static_cast<std::size_t>(end - at));
    at += decoded.width;
    return decoded.width != 1 || decoded.code_point < 0x80;
  };
  // Many texts are ASCII, or "▁" and ASCII.
  while (at != end && *at >= 0x80)
    if (!skip_character())
      return false;
  if (is_ascii(at, static_cast<std::size_t>(end - at)))
    return true;
  while (at != end)
    if (!skip_character())
      return false;
  return true;
}

} // namespace pretok
