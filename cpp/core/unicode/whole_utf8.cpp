#include "core/unicode/whole_utf8.hpp"

#include <cstdint>

namespace pretok {
namespace {

// The range of valid values of the next byte of a UTF-8 sequence, including both ends.
struct NextByte {
  std::uint8_t first;
  std::uint8_t last;

  bool has(std::uint8_t byte) const { return byte >= first && byte <= last; }
};

constexpr std::uint8_t REPLACEMENT[] = {0xEF, 0xBF, 0xBD}; // U+FFFD

// Returns the size of a UTF-8 sequence with the first byte `lead`. Returns 0 if no sequence
// starts with this byte.
std::size_t sequence_size(std::uint8_t lead) {
  return lead < 0x80   ? 1
         : lead < 0xC2 ? 0
         : lead < 0xE0 ? 2
         : lead < 0xF0 ? 3
         : lead < 0xF5 ? 4
                       : 0;
}

// Returns the range of the byte after `lead`. All later bytes range from 0x80 to 0xBF.
NextByte second_byte(std::uint8_t lead) {
  const std::uint8_t first = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t last = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  return {first, last};
}

} // namespace

void append_replacements(std::size_t count, std::string &text) {
  for (; count != 0; --count)
    text.append(reinterpret_cast<const char *>(REPLACEMENT), sizeof REPLACEMENT);
}

std::size_t append_whole_utf8(std::string_view data, Invalid invalid, std::string &text) {
  std::size_t at = 0;
  std::size_t kept = 0; // the text has all bytes before data[kept]
  while (at < data.size()) {
    const auto lead = static_cast<std::uint8_t>(data[at]);
    const std::size_t size = sequence_size(lead);
    std::size_t length = 1;
    NextByte next = second_byte(lead);
    while (length < size && at + length < data.size() &&
           next.has(static_cast<std::uint8_t>(data[at + length]))) {
      ++length;
      next = {0x80, 0xBF};
    }
    if (length < size && at + length == data.size())
      break;
    if (length != size && invalid != Invalid::KEEP) {
      text.append(data, kept, at - kept);
      append_replacements(invalid == Invalid::MARK_PER_BYTE ? length : 1, text);
      kept = at + length;
    }
    at += length;
  }
  text.append(data, kept, at - kept);
  return at;
}

} // namespace pretok
