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

std::uint8_t *write_bytes(std::string_view text, std::uint8_t *to) {
  const auto *at = reinterpret_cast<const std::uint8_t *>(text.data());
  const std::uint8_t *const end = at + text.size();
  while (at != end) {
    // The alphabet has characters of one and two bytes. The lead byte of a longer character,
    // read like that of two bytes, gives a number that is too large.
    const bool is_long = *at >= 0xC2 && at + 1 != end && (at[1] & 0xC0) == 0x80;
    const std::size_t character = is_long      ? std::size_t{*at ^ 0xC0u} << 6 | (at[1] & 0x3F)
                                  : *at < 0x80 ? *at
                                               : Characters::COUNT;
    const std::uint16_t byte =
        character < Characters::COUNT ? CHARACTERS.bytes[character] : Characters::NO_BYTE;
    if (byte == Characters::NO_BYTE)
      return nullptr;
    *to++ = static_cast<std::uint8_t>(byte);
    at += is_long ? 2 : 1;
  }
  return to;
}

bool append_bytes(std::string_view text, std::vector<std::uint8_t> &to) {
  const std::size_t before = to.size();
  to.resize(before + text.size());
  const std::uint8_t *const end = write_bytes(text, to.data() + before);
  to.resize(end == nullptr ? before : static_cast<std::size_t>(end - to.data()));
  return end != nullptr;
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
