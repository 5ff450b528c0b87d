#include "core/unicode/utf8_check.hpp"

#include "core/unicode/utf8.hpp"

#include <array>

namespace pretok {
namespace {

// A state is the offset of 6 bits in an entry of TRANSITIONS. These bits hold the state after
// the byte of the entry. So a step is one shift, and steps have no branches.
constexpr unsigned STATE_BITS = 6;
constexpr unsigned ACCEPT = 0;
constexpr unsigned REJECT = 1 * STATE_BITS;
constexpr unsigned TAIL_1 = 2 * STATE_BITS; // one continuation byte is left
constexpr unsigned TAIL_2 = 3 * STATE_BITS;
constexpr unsigned TAIL_3 = 4 * STATE_BITS;
constexpr unsigned AFTER_E0 =
    5 * STATE_BITS; // the next byte is limited to exclude long forms ...
constexpr unsigned AFTER_ED = 6 * STATE_BITS; // ... surrogates ...
constexpr unsigned AFTER_F0 = 7 * STATE_BITS;
constexpr unsigned AFTER_F4 = 8 * STATE_BITS; // ... and numbers above U+10FFFF
static_assert(ACCEPT == static_cast<unsigned>(Utf8State::AFTER_CODE_POINT));
static_assert(REJECT == static_cast<unsigned>(Utf8State::MALFORMED));
static_assert(AFTER_F4 == static_cast<unsigned>(Utf8State::LAST));

struct Transition {
  unsigned from, first, last, to; // the bytes first..last
};

constexpr std::array<Transition, 16> RULES = {{
    {ACCEPT, 0x00, 0x7F, ACCEPT},
    {ACCEPT, 0xC2, 0xDF, TAIL_1},
    {ACCEPT, 0xE0, 0xE0, AFTER_E0},
    {ACCEPT, 0xE1, 0xEC, TAIL_2},
    {ACCEPT, 0xED, 0xED, AFTER_ED},
    {ACCEPT, 0xEE, 0xEF, TAIL_2},
    {ACCEPT, 0xF0, 0xF0, AFTER_F0},
    {ACCEPT, 0xF1, 0xF3, TAIL_3},
    {ACCEPT, 0xF4, 0xF4, AFTER_F4},
    {TAIL_1, 0x80, 0xBF, ACCEPT},
    {TAIL_2, 0x80, 0xBF, TAIL_1},
    {TAIL_3, 0x80, 0xBF, TAIL_2},
    {AFTER_E0, 0xA0, 0xBF, TAIL_1},
    {AFTER_ED, 0x80, 0x9F, TAIL_1},
    {AFTER_F0, 0x90, 0xBF, TAIL_2},
    {AFTER_F4, 0x80, 0x8F, TAIL_2},
}};

constexpr std::array<std::uint64_t, 256> transitions() {
  std::array<std::uint64_t, 256> entries{};
  for (std::uint64_t &entry : entries)
    for (unsigned state = ACCEPT; state <= AFTER_F4; state += STATE_BITS)
      entry |= std::uint64_t{REJECT} << state;
  for (const Transition &rule : RULES)
    for (unsigned byte = rule.first; byte <= rule.last; ++byte)
      entries[byte] ^= std::uint64_t{REJECT ^ rule.to} << rule.from;
  return entries;
}
constexpr std::array<std::uint64_t, 256> TRANSITIONS = transitions();

constexpr std::size_t ASCII_BLOCK = 16;

} // namespace

Utf8State check_utf8(const std::uint8_t *data, std::size_t size, Utf8State state) {
  std::uint64_t next = static_cast<std::uint64_t>(state);
  const auto read = [&](std::size_t count) {
    for (std::size_t i = 0; i != count; ++i)
      next = TRANSITIONS[data[i]] >> (next & 63);
    data += count;
    size -= count;
  };
  while (size >= ASCII_BLOCK) {
    if ((next & 63) == ACCEPT && is_ascii(data, ASCII_BLOCK)) {
      data += ASCII_BLOCK;
      size -= ASCII_BLOCK;
    } else {
      read(ASCII_BLOCK);
    }
  }
  read(size);
  return static_cast<Utf8State>(next & 63);
}

} // namespace pretok
