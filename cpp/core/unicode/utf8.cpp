#include "core/unicode/utf8.hpp"

namespace pretok {

std::size_t last_start(const std::uint8_t *data, std::size_t start, std::size_t end) {
  std::size_t lead = end - 1;
  while (lead > start && end - lead < 4 && is_tail(data[lead]))
    --lead;
  // A byte that is not UTF-8 counts as one code point.
  return decode_utf8(data + lead, end - lead).width == end - lead ? lead : end - 1;
}

std::size_t incomplete_size(const std::uint8_t *data, std::size_t size) {
  std::size_t tails = 0;
  while (tails < size && tails < 3 && is_tail(data[size - 1 - tails]))
    ++tails;
  if (tails == size || data[size - 1 - tails] < 0xC0)
    return 0;
  const std::uint8_t lead = data[size - 1 - tails];
  const std::size_t needed_tails = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  return tails < needed_tails ? tails + 1 : 0;
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
