#include "core/unicode/byte_level.hpp"

#include "core/unicode/utf8.hpp"

#include <array>
#include <cstddef>

namespace pretok {
namespace {

// The alphabet has a character for each byte. A visible character of Latin-1 stands for the
// byte with the same number. The 68 characters from U+0100 on stand for the other bytes, in
// ascending order.
struct Characters {
  static constexpr std::size_t COUNT = 256 + 68;
  static constexpr std::uint16_t NO_BYTE = 256;

  std::array<std::uint16_t, 256> of_bytes{}; // by byte: the character
  std::array<std::uint16_t, COUNT> bytes{};  // by character: the byte, or NO_BYTE
};

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

constexpr Characters make_characters() {
  Characters characters;
  for (std::size_t i = 0; i < Characters::COUNT; ++i)
    characters.bytes[i] = Characters::NO_BYTE;
  std::uint16_t next = 256;
  for (std::uint16_t byte = 0; byte < 256; ++byte) {
    const std::uint16_t character = stands_for_itself(byte) ? byte : next++;
    characters.of_bytes[byte] = character;
    characters.bytes[character] = byte;
  }
  return characters;
}

constexpr Characters CHARACTERS = make_characters();

} // namespace

bool append_bytes(std::string_view text, std::vector<std::uint8_t> &to) {
  const std::size_t before = to.size();
  const auto *at = reinterpret_cast<const std::uint8_t *>(text.data());
  const std::uint8_t *const end = at + text.size();
  to.resize(before + text.size()); // a character takes at least one byte
  std::uint8_t *next = to.data() + before;
  while (at != end) {
    const Decoded decoded = decode_utf8(at, static_cast<std::size_t>(end - at));
    const std::uint16_t byte = decoded.code_point < Characters::COUNT
                                   ? CHARACTERS.bytes[decoded.code_point]
                                   : Characters::NO_BYTE;
    if (byte == Characters::NO_BYTE) {
      to.resize(before);
      return false;
    }
    *next++ = static_cast<std::uint8_t>(byte);
    at += decoded.width;
  }
  to.resize(static_cast<std::size_t>(next - to.data()));
  return true;
}

std::string byte_characters(std::string_view token) {
  std::string text;
  for (const char each : token) {
    std::uint8_t bytes[4];
    const std::uint16_t character = CHARACTERS.of_bytes[static_cast<unsigned char>(each)];
    text.append(bytes, bytes + encode_utf8(character, bytes));
  }
  return text;
}

} // namespace pretok
