// Writes lines of rank files in the format of tiktoken.
#pragma once

#include <cstdint>
#include <string>

namespace pretok {

inline std::string base64(const std::string &bytes) {
  static const char DIGITS[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t i) {
      return at + i < bytes.size() ? std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])}
                                   : 0U;
    };
    const std::uint32_t bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (unsigned i = 0; i < 4; ++i)
      text += at + i <= bytes.size() ? DIGITS[bits >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

inline std::string rank_line(const std::string &token, std::uint32_t rank) {
  return base64(token) + ' ' + std::to_string(rank) + '\n';
}

} // namespace pretok
