#include "formats/load_error.hpp"

namespace pretok {

std::string join(std::initializer_list<MessagePart> parts) {
  std::string text;
  for (const MessagePart &part : parts)
    text += part.text();
  return text;
}

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

} // namespace pretok
