#include "core/base/short_key.hpp"

namespace pretok {
namespace {

template <typename Word> Word load_as(const std::uint8_t *from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

} // namespace

// Loads pre-tokens that begin less than 16 bytes before the end of the readable memory. In a
// text of a few words, these are a third of all pre-tokens, so speed matters: two loads that
// overlap are faster than a copy of variable size.
ShortBytes ShortBytes::load_no_more(const std::uint8_t *bytes, std::size_t size) {
  ShortBytes key;
  if (!LITTLE_ENDIAN_BYTES) {
    std::uint64_t both[2] = {0, 0};
    std::memcpy(both, bytes, size);
    key.low = both[0];
    key.high = both[1];
  } else if (size > 8) {
    key.low = load_as<std::uint64_t>(bytes);
    key.high = load_as<std::uint64_t>(bytes + size - 8) >> (8 * (MAX_BYTES - size));
  } else if (size >= 4) {
    const std::uint64_t last = load_as<std::uint32_t>(bytes + size - 4);
    key.low = load_as<std::uint32_t>(bytes) | last << (8 * (size - 4));
  } else if (size != 0) {
    // There are one to three bytes. They are at 0, size / 2 and size - 1. Some of these
    // positions may be equal; the OR of equal bytes changes nothing.
    key.low = bytes[0] | std::uint64_t{bytes[size / 2]} << (8 * (size / 2)) |
              std::uint64_t{bytes[size - 1]} << (8 * (size - 1));
  }
  return key;
}

} // namespace pretok
