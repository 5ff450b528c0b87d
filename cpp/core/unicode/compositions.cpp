#include "core/unicode/compositions.hpp"

#include <algorithm>
#include <iterator>

namespace pretok {
namespace {

// Consecutive code points whose decomposition is a single code point. SINGLES has the
// decompositions in order; `at` is the index of the decomposition of `first`.
struct SingleRun {
  std::uint32_t first;
  std::uint32_t at;
};

#include "core/unicode/generated/compositions.inc"

// PAIRS is in ascending order. An entry has these fields, the highest bits first:
//   first (18 bits)   second (18)   composite (18)   1 if excluded from composition (1)
constexpr unsigned PAIR_BITS = 18;
constexpr std::uint32_t PAIR_MASK = (1U << PAIR_BITS) - 1;

// Hangul: a syllable is a leading consonant, a vowel, and at most one trailing consonant.
constexpr std::uint32_t SYLLABLES = 0xAC00;
constexpr std::uint32_t LEADING = 0x1100;
constexpr std::uint32_t VOWELS = 0x1161;
constexpr std::uint32_t TRAILING = 0x11A7; // one before the first trailing consonant
constexpr std::uint32_t LEADING_COUNT = 19;
constexpr std::uint32_t VOWEL_COUNT = 21;
constexpr std::uint32_t TRAILING_COUNT = 28;
constexpr std::uint32_t SYLLABLE_COUNT = LEADING_COUNT * VOWEL_COUNT * TRAILING_COUNT;

constexpr std::uint32_t NO_CODE_POINT = NOT_COMPOSED;

struct Decomposition {
  std::uint32_t first;
  std::uint32_t second; // NO_CODE_POINT if the decomposition is a single code point
};

// Returns one step of the decomposition of a code point that is not a Hangul syllable. If the
// code point has no decomposition, returns it and NO_CODE_POINT.
Decomposition step_of(std::uint32_t code_point) {
  const auto composite_at = [](std::size_t at) {
    return static_cast<std::uint32_t>(PAIRS[at] >> 1) & PAIR_MASK;
  };
  const auto below = [&](std::size_t at, std::uint32_t wanted) {
    return composite_at(at) < wanted;
  };
  const std::uint16_t *pair =
      std::lower_bound(std::begin(BY_COMPOSITE), std::end(BY_COMPOSITE), code_point, below);
  if (pair != std::end(BY_COMPOSITE) && composite_at(*pair) == code_point)
    return {static_cast<std::uint32_t>(PAIRS[*pair] >> (2 * PAIR_BITS + 1)),
            static_cast<std::uint32_t>(PAIRS[*pair] >> (PAIR_BITS + 1)) & PAIR_MASK};
  const SingleRun *next_run = std::upper_bound(
      std::begin(RUNS), std::end(RUNS), code_point,
      [](std::uint32_t wanted, const SingleRun &run) { return wanted < run.first; });
  if (next_run != std::begin(RUNS)) {
    // The decompositions of the run end where those of the next run begin.
    const std::size_t end = next_run == std::end(RUNS) ? std::size(SINGLES) : next_run->at;
    const std::size_t at = next_run[-1].at + (code_point - next_run[-1].first);
    if (at < end)
      return {SINGLES[at], NO_CODE_POINT};
  }
  return {code_point, NO_CODE_POINT};
}

} // namespace

std::uint32_t composed(std::uint32_t first, std::uint32_t second) {
  if (first - LEADING < LEADING_COUNT && second - VOWELS < VOWEL_COUNT)
    return SYLLABLES + ((first - LEADING) * VOWEL_COUNT + second - VOWELS) * TRAILING_COUNT;
  if (first - SYLLABLES < SYLLABLE_COUNT && (first - SYLLABLES) % TRAILING_COUNT == 0 &&
      second - TRAILING - 1 < TRAILING_COUNT - 1)
    return first + second - TRAILING;
  if (first > PAIR_MASK || second > PAIR_MASK)
    return NOT_COMPOSED;
  const std::uint64_t key = std::uint64_t{first} << PAIR_BITS | second;
  const auto compare = [](std::uint64_t pair, std::uint64_t wanted) {
    return pair >> (PAIR_BITS + 1) < wanted;
  };
  const std::uint64_t *pair =
      std::lower_bound(std::begin(PAIRS), std::end(PAIRS), key, compare);
  const bool composes =
      pair != std::end(PAIRS) && *pair >> (PAIR_BITS + 1) == key && (*pair & 1) == 0;
  return composes ? static_cast<std::uint32_t>(*pair >> 1) & PAIR_MASK : NOT_COMPOSED;
}

std::size_t decompose(std::uint32_t code_point, std::uint32_t *parts) {
  const std::uint32_t syllable = code_point - SYLLABLES;
  if (syllable < SYLLABLE_COUNT) {
    const std::uint32_t trailing = syllable % TRAILING_COUNT;
    const std::uint32_t open = syllable / TRAILING_COUNT; // without a trailing consonant
    parts[0] = LEADING + open / VOWEL_COUNT;
    parts[1] = VOWELS + open % VOWEL_COUNT;
    if (trailing == 0)
      return 2;
    parts[2] = TRAILING + trailing;
    return 3;
  }
  // The first part of a step may decompose further; the second part never does. For U+1EAD (a
  // with circumflex and dot below):
  //   1EAD -> 1EA1 0302     `later` is {0302}
  //   1EA1 -> 0061 0323     `later` is {0302, 0323}
  //   parts: 0061, then `later` from its end: 0323 0302
  std::uint32_t later[MAX_DECOMPOSITION];
  std::size_t count = 0;
  for (;;) {
    const Decomposition step = step_of(code_point);
    if (step.first == code_point)
      break;
    if (step.second != NO_CODE_POINT)
      later[count++] = step.second;
    code_point = step.first;
  }
  std::size_t size = 0;
  parts[size++] = code_point;
  while (count > 0)
    parts[size++] = later[--count];
  return size;
}

} // namespace pretok
