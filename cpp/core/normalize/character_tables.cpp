#include "core/normalize/character_tables.hpp"

#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <iterator>

namespace pretok {
namespace {

struct LowerRun {
  std::uint32_t first;
  std::uint16_t count;
  std::uint16_t step;
  std::int32_t delta;
};
struct CompatibleRun {
  std::uint32_t first;
  std::uint16_t count;
  std::uint16_t at;
};

#include "core/normalize/generated/characters.inc"

constexpr unsigned KIND_BITS = 5;
constexpr std::uint32_t HANGUL_SYLLABLES = 0xAC00;
constexpr std::uint32_t HANGUL_COUNT = 11172;
constexpr std::uint32_t HANGUL_TRAILING = 28;
constexpr std::uint32_t CAPITAL_DOTTED_I = 0x130; // its lower case is two characters

template <std::size_t SIZE>
constexpr CharacterRanges set_of(const std::uint32_t (&bounds)[SIZE]) {
  return {bounds, SIZE};
}

} // namespace

const CharacterRanges WHITE_SPACE_CHARACTERS = set_of(WHITE_SPACE);
const CharacterRanges COMBINING_MARK_CHARACTERS = set_of(COMBINING_MARKS);
const CharacterRanges NONSPACING_MARK_CHARACTERS = set_of(NONSPACING_MARKS);
const CharacterRanges CONTROL_CHARACTERS = set_of(CONTROLS);
const CharacterRanges CHINESE_CHARACTERS = set_of(CHINESE);
const CharacterRanges NMT_DROPPED_CHARACTERS = set_of(NMT_DROPPED);
const CharacterRanges NMT_SPACE_CHARACTERS = set_of(NMT_SPACES);

bool CharacterRanges::has(std::uint32_t code_point) const {
  return (std::upper_bound(bounds, bounds + size, code_point) - bounds) % 2 != 0;
}

void append_character(std::uint32_t code_point, std::vector<std::uint8_t> &to) {
  if (code_point - 0xDC00 < 0x100)
    return to.push_back(static_cast<std::uint8_t>(code_point - 0xDC00));
  std::uint8_t bytes[4];
  to.insert(to.end(), bytes, bytes + encode_utf8(code_point, bytes));
}

void append_lower(std::uint32_t code_point, std::vector<std::uint8_t> &to) {
  if (code_point == CAPITAL_DOTTED_I) {
    to.push_back('i');
    return append_character(0x307, to);
  }
  const LowerRun *run = std::upper_bound(
      std::begin(LOWER), std::end(LOWER), code_point,
      [](std::uint32_t wanted, const LowerRun &next) { return wanted < next.first; });
  if (run != std::begin(LOWER)) {
    --run; // runs do not overlap
    const std::uint32_t offset = code_point - run->first;
    if (offset % run->step == 0 && offset / run->step < run->count)
      return append_character(code_point + static_cast<std::uint32_t>(run->delta), to);
  }
  append_character(code_point, to);
}

void append_compatible(std::uint32_t code_point, std::vector<std::uint8_t> &to) {
  const CompatibleRun *next = std::upper_bound(
      std::begin(COMPATIBLE_RUNS), std::end(COMPATIBLE_RUNS), code_point,
      [](std::uint32_t wanted, const CompatibleRun &run) { return wanted < run.first; });
  if (next == std::begin(COMPATIBLE_RUNS) || code_point - next[-1].first >= next[-1].count)
    return append_character(code_point, to);
  const std::uint8_t *text = COMPATIBLE + next[-1].at;
  for (std::uint32_t left = code_point - next[-1].first; left != 0; --left)
    text += 1 + *text;
  to.insert(to.end(), text + 1, text + 1 + *text);
}

GraphemeKind grapheme_kind(std::uint32_t code_point) {
  const std::uint32_t syllable = code_point - HANGUL_SYLLABLES;
  if (syllable < HANGUL_COUNT)
    return syllable % HANGUL_TRAILING == 0 ? GraphemeKind::LV : GraphemeKind::LVT;
  const std::uint32_t *next =
      std::upper_bound(std::begin(GRAPHEMES), std::end(GRAPHEMES),
                       code_point << KIND_BITS | ((1U << KIND_BITS) - 1));
  return static_cast<GraphemeKind>(next[-1] & ((1U << KIND_BITS) - 1));
}

} // namespace pretok
