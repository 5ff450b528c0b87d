#include "core/unicode/nfc.hpp"

#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace pretok {
namespace {

enum : std::uint8_t {
  BOUNDARY_BEFORE = 1,        // has_nfc_boundary_before
  COMPOSES_WITH_NEXT = 2,     // its decomposition may compose with the next code point
  COMPOSES_WITH_PREVIOUS = 4, // may compose with the previous starter
  NOT_IN_NFC = 8,             // is not in NFC
};

struct NfcKind {
  std::uint8_t combining_class;
  std::uint8_t flags;
};

// Consecutive code points whose decomposition is a single code point.
struct SingleRun {
  std::uint32_t first;
  std::uint32_t at; // index of the first one in SINGLES
};

#include "core/unicode/generated/nfc.inc"

constexpr unsigned PAIR_BITS = 18; // of a code point in PAIRS
constexpr std::uint32_t PAIR_MASK = (1U << PAIR_BITS) - 1;

// Hangul: a syllable is a leading consonant, a vowel, and at most one trailing consonant.
constexpr std::uint32_t SYLLABLES = 0xAC00;
constexpr std::uint32_t LEADING = 0x1100;
constexpr std::uint32_t VOWELS = 0x1161;
constexpr std::uint32_t TRAILING = 0x11A7; // stands for no trailing consonant
constexpr std::uint32_t LEADING_COUNT = 19;
constexpr std::uint32_t VOWEL_COUNT = 21;
constexpr std::uint32_t TRAILING_COUNT = 28;
constexpr std::uint32_t SYLLABLE_COUNT = LEADING_COUNT * VOWEL_COUNT * TRAILING_COUNT;

constexpr std::uint32_t NO_CODE_POINT = 0xFFFFFFFF;

NfcKind kind_of(std::uint32_t code_point) {
  if (code_point >= NFC_END)
    return KINDS[0];
  const unsigned block = HIGH[code_point >> 8] * 16U + (code_point >> 4 & 15);
  return KINDS[LOW[MIDDLE[block] * 16U + (code_point & 15)]];
}

// Whether NFC keeps the code point, unless a later one composes with it: a starter with the
// property NFC_Quick_Check=Yes.
bool is_stable_starter(NfcKind kind) {
  return (kind.flags & (BOUNDARY_BEFORE | NOT_IN_NFC)) == BOUNDARY_BEFORE;
}

// Returns the composite of two code points, or NO_CODE_POINT.
std::uint32_t composite(std::uint32_t first, std::uint32_t second) {
  if (first - LEADING < LEADING_COUNT && second - VOWELS < VOWEL_COUNT)
    return SYLLABLES + ((first - LEADING) * VOWEL_COUNT + second - VOWELS) * TRAILING_COUNT;
  if (first - SYLLABLES < SYLLABLE_COUNT && (first - SYLLABLES) % TRAILING_COUNT == 0 &&
      second - TRAILING - 1 < TRAILING_COUNT - 1)
    return first + second - TRAILING;
  if (first > PAIR_MASK || second > PAIR_MASK)
    return NO_CODE_POINT;
  const std::uint64_t key = std::uint64_t{first} << PAIR_BITS | second;
  const auto compare = [](std::uint64_t pair, std::uint64_t wanted) {
    return pair >> (PAIR_BITS + 1) < wanted;
  };
  const std::uint64_t *pair =
      std::lower_bound(std::begin(PAIRS), std::end(PAIRS), key, compare);
  const bool composes =
      pair != std::end(PAIRS) && *pair >> (PAIR_BITS + 1) == key && (*pair & 1) == 0;
  return composes ? static_cast<std::uint32_t>(*pair >> 1) & PAIR_MASK : NO_CODE_POINT;
}

struct Decomposition {
  std::uint32_t first;
  std::uint32_t second; // NO_CODE_POINT if the decomposition is a single code point
};

// Returns one step of the decomposition of a code point: itself and NO_CODE_POINT if there is
// none.
Decomposition parts_of(std::uint32_t code_point) {
  const std::uint32_t syllable = code_point - SYLLABLES;
  if (syllable < SYLLABLE_COUNT) {
    const std::uint32_t trailing = syllable % TRAILING_COUNT;
    if (trailing != 0)
      return {code_point - trailing, TRAILING + trailing};
    const std::uint32_t both = syllable / TRAILING_COUNT;
    return {LEADING + both / VOWEL_COUNT, VOWELS + both % VOWEL_COUNT};
  }
  const auto of_pair = [](std::size_t at) {
    return static_cast<std::uint32_t>(PAIRS[at] >> 1) & PAIR_MASK;
  };
  const auto below = [&](std::size_t at, std::uint32_t wanted) { return of_pair(at) < wanted; };
  const std::uint16_t *pair =
      std::lower_bound(std::begin(BY_COMPOSITE), std::end(BY_COMPOSITE), code_point, below);
  if (pair != std::end(BY_COMPOSITE) && of_pair(*pair) == code_point)
    return {static_cast<std::uint32_t>(PAIRS[*pair] >> (2 * PAIR_BITS + 1)),
            static_cast<std::uint32_t>(PAIRS[*pair] >> (PAIR_BITS + 1)) & PAIR_MASK};
  const SingleRun *later = std::upper_bound(
      std::begin(RUNS), std::end(RUNS), code_point,
      [](std::uint32_t wanted, const SingleRun &run) { return wanted < run.first; });
  if (later != std::begin(RUNS)) {
    const std::size_t end = later == std::end(RUNS) ? std::size(SINGLES) : later->at;
    const std::size_t at = later[-1].at + (code_point - later[-1].first);
    if (at < end)
      return {SINGLES[at], NO_CODE_POINT};
  }
  return {code_point, NO_CODE_POINT};
}

// A code point, with its combining class << CLASS_SHIFT.
using Item = std::uint32_t;
constexpr unsigned CLASS_SHIFT = 24;
constexpr std::uint32_t CODE_POINT = (1U << CLASS_SHIFT) - 1;

Item item_of(std::uint32_t code_point, NfcKind kind) {
  return std::uint32_t{kind.combining_class} << CLASS_SHIFT | code_point;
}

void append_decomposed(std::uint32_t code_point, std::vector<Item> &items) {
  std::array<std::uint32_t, 4> later; // cpp/generate/bpe_tables.py checks the size
  std::size_t count = 0;
  for (;;) {
    const Decomposition parts = parts_of(code_point);
    if (parts.first == code_point)
      break;
    if (parts.second != NO_CODE_POINT)
      later[count++] = parts.second;
    code_point = parts.first;
  }
  items.push_back(item_of(code_point, kind_of(code_point)));
  while (count > 0) {
    --count;
    items.push_back(item_of(later[count], kind_of(later[count])));
  }
}

// Sorts the marks between two starters by their combining class.
void sort_marks(std::vector<Item> &items) {
  const auto is_mark = [](Item item) { return item > CODE_POINT; };
  const auto compare = [](Item a, Item b) { return a >> CLASS_SHIFT < b >> CLASS_SHIFT; };
  auto at = items.begin();
  while ((at = std::find_if(at, items.end(), is_mark)) != items.end()) {
    const auto end = std::find_if_not(at, items.end(), is_mark);
    if (!std::is_sorted(at, end, compare))
      std::stable_sort(at, end, compare);
    at = end;
  }
}

void compose(std::vector<Item> &items) {
  std::size_t kept = 0;
  std::size_t letter = items.size(); // the last item of class 0 that was kept
  std::uint32_t last_class = 0;      // of the last item that was kept
  for (const Item item : items) {
    const std::uint32_t class_ = item >> CLASS_SHIFT;
    if (letter < kept && (last_class == 0 || last_class < class_)) {
      const std::uint32_t composed = composite(items[letter], item & CODE_POINT);
      if (composed != NO_CODE_POINT) {
        items[letter] = composed;
        continue;
      }
    }
    if (class_ == 0)
      letter = kept;
    last_class = class_;
    items[kept++] = item;
  }
  items.resize(kept);
}

void append_code_point(std::uint32_t code_point, std::vector<std::uint8_t> &to) {
  if (code_point - 0xDC00 < 0x100) // a byte that is not UTF-8; see decode_utf8
    return to.push_back(static_cast<std::uint8_t>(code_point - 0xDC00));
  std::uint8_t bytes[4];
  const std::size_t size = encode_utf8(code_point, bytes);
  for (std::size_t i = 0; i < size; ++i)
    to.push_back(bytes[i]);
}

// Appends the NFC of a text by full decomposition and composition.
void append_normal(const std::uint8_t *data, std::size_t size, std::vector<Item> &items,
                   std::vector<std::uint8_t> &to) {
  items.clear();
  for (std::size_t at = 0; at < size;) {
    const Decoded decoded = decode_utf8(data + at, size - at);
    at += decoded.width;
    const NfcKind kind = kind_of(decoded.code_point);
    // Every code point that decomposes has one of these flags.
    if ((kind.flags & (COMPOSES_WITH_NEXT | NOT_IN_NFC)) == 0)
      items.push_back(item_of(decoded.code_point, kind));
    else
      append_decomposed(decoded.code_point, items);
  }
  sort_marks(items);
  compose(items);
  for (const Item item : items)
    append_code_point(item & CODE_POINT, to);
}

// Returns whether a byte starts a code point that is not a stable starter.
constexpr std::array<bool, 256> unstable_leads() {
  std::array<bool, 256> leads{};
  for (const std::uint8_t lead : UNSTABLE_LEADS)
    leads[lead] = true;
  return leads;
}
constexpr std::array<bool, 256> IS_UNSTABLE_LEAD = unstable_leads();

// Returns the first position from `at` on that may start a code point that is not a stable
// starter. Skips continuation bytes, and bytes that are not UTF-8.
std::size_t skip_stable(const std::uint8_t *data, std::size_t size, std::size_t at) {
  for (; size - at >= 8; at += 8) {
    if (is_ascii(data + at, 8))
      continue;
    bool any = false;
    for (std::size_t i = 0; i < 8; ++i)
      any |= IS_UNSTABLE_LEAD[data[at + i]];
    if (any)
      break;
  }
  while (at < size && !IS_UNSTABLE_LEAD[data[at]])
    ++at;
  return at;
}

// Returns the start of the code point that ends at `at`; it is at least `floor`.
std::size_t start_before(const std::uint8_t *data, std::size_t floor, std::size_t at) {
  std::size_t start = at - 1;
  while (start > floor && at - start < 4 && is_tail(data[start]))
    --start;
  return decode_utf8(data + start, at - start).width == at - start ? start : at - 1;
}

// Calls changed(start, end) for each part of a text that may not be in NFC, in order, until it
// returns false. Each part starts at the start of the text or at an NFC boundary, and ends
// before one. The text between two parts is in NFC.
template <typename Changed>
void for_unnormalized(const std::uint8_t *data, std::size_t size, Changed changed) {
  std::size_t at = 0;
  std::size_t floor = 0; // the last NFC boundary known, or 0
  while ((at = skip_stable(data, size, at)) < size) {
    Decoded decoded = decode_utf8(data + at, size - at);
    NfcKind kind = kind_of(decoded.code_point);
    if (is_stable_starter(kind)) {
      at += decoded.width;
      continue;
    }
    std::size_t start = at;
    bool leads = (kind.flags & COMPOSES_WITH_NEXT) != 0;
    bool certain = (kind.flags & NOT_IN_NFC) == 0;
    if ((kind.flags & BOUNDARY_BEFORE) == 0 && at > floor) {
      // Every code point from `floor` to `at` is a stable starter: the last one has a boundary.
      start = start_before(data, floor, at);
      leads = (kind_of(decode_utf8(data + start, at - start).code_point).flags &
               COMPOSES_WITH_NEXT) != 0;
      certain = certain && !(leads && (kind.flags & COMPOSES_WITH_PREVIOUS) != 0);
    }
    // Marks in order that do not compose are already in NFC.
    std::uint32_t last_class = kind.combining_class;
    for (at += decoded.width; at < size; at += decoded.width) {
      decoded = decode_utf8(data + at, size - at);
      kind = kind_of(decoded.code_point);
      if ((kind.flags & BOUNDARY_BEFORE) != 0)
        break;
      const bool in_order = kind.combining_class == 0 || last_class <= kind.combining_class;
      certain = certain && in_order && (kind.flags & NOT_IN_NFC) == 0 &&
                !(leads && (kind.flags & COMPOSES_WITH_PREVIOUS) != 0);
      last_class = kind.combining_class;
    }
    if (!certain && !changed(start, at))
      return;
    floor = at;
  }
}

} // namespace

bool is_nfc(const std::uint8_t *data, std::size_t size) {
  bool same = true;
  std::vector<Item> items;
  std::vector<std::uint8_t> normal;
  for_unnormalized(data, size, [&](std::size_t start, std::size_t end) {
    normal.clear();
    append_normal(data + start, end - start, items, normal);
    same = std::equal(normal.begin(), normal.end(), data + start, data + end);
    return same;
  });
  return same;
}

void to_nfc(const std::uint8_t *data, std::size_t size, std::vector<std::uint8_t> &to) {
  std::size_t copied = 0;
  std::vector<Item> items;
  for_unnormalized(data, size, [&](std::size_t start, std::size_t end) {
    to.insert(to.end(), data + copied, data + start);
    append_normal(data + start, end - start, items, to);
    copied = end;
    return true;
  });
  to.insert(to.end(), data + copied, data + size);
}

bool has_nfc_boundary_before(std::uint32_t code_point) {
  return (kind_of(code_point).flags & BOUNDARY_BEFORE) != 0;
}

std::size_t last_nfc_cut(const std::uint8_t *data, std::size_t size, std::size_t from) {
  // Leaves out an incomplete sequence at the end.
  std::size_t end = size;
  for (std::size_t tails = 0; tails < 3 && tails < size; ++tails) {
    const std::uint8_t byte = data[size - 1 - tails];
    if (is_tail(byte))
      continue;
    const std::size_t wanted = byte < 0xC0 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    if (tails < wanted)
      end = size - 1 - tails;
    break;
  }
  while (end > from) {
    const std::size_t start = start_before(data, 0, end);
    if (start >= from &&
        has_nfc_boundary_before(decode_utf8(data + start, end - start).code_point))
      return start;
    end = start;
  }
  return 0;
}

} // namespace pretok
