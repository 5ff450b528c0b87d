#include "formats/load_error.hpp"

namespace pretok {

void MessagePart::append_to(std::string &message) const {
  if (kind_ == TEXT)
    message += text_;
  else if (kind_ == SIGNED)
    message += std::to_string(static_cast<std::int64_t>(number_));
  else
    message += std::to_string(number_);
}

LoadError load_error(LoadError::Kind kind, std::initializer_list<MessagePart> parts) {
  LoadError error{kind, {}};
  for (const MessagePart &part : parts)
    part.append_to(error.message);
  return error;
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
