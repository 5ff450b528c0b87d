#include "core/unicode/nfc.hpp"

#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace pretok {
namespace {

enum : std::uint8_t {
  BOUNDARY_BEFORE = 1,        // has an NFC boundary before it (nfc.hpp)
  COMPOSES_WITH_NEXT = 2,     // the code point, or the first one of its decomposition, may
                              // compose with a later code point
  COMPOSES_WITH_PREVIOUS = 4, // may compose with the previous starter
  NOT_IN_NFC = 8,             // NFC replaces the code point: NFC_Quick_Check=No
};

struct NfcKind {
  std::uint8_t combining_class;
  std::uint8_t flags;
};

// Consecutive code points whose decomposition is a single code point. SINGLES has the
// decompositions in order; `at` is the index of the decomposition of `first`.
struct SingleRun {
  std::uint32_t first;
  std::uint32_t at;
};

#include "core/unicode/generated/nfc.inc"

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

NfcKind kind_of(std::uint32_t code_point) {
  if (code_point >= NFC_END)
    return KINDS[0];
  const unsigned block = HIGH[code_point >> 8] * 16U + (code_point >> 4 & 15);
  return KINDS[LOW[MIDDLE[block] * 16U + (code_point & 15)]];
}

// Returns whether the code point is a starter with the property NFC_Quick_Check=Yes. NFC keeps
// such a code point, unless a later code point composes with it.
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

// Returns one step of the decomposition of a code point. If the code point has no
// decomposition, returns it and NO_CODE_POINT.
Decomposition parts_of(std::uint32_t code_point) {
  const std::uint32_t syllable = code_point - SYLLABLES;
  if (syllable < SYLLABLE_COUNT) {
    const std::uint32_t trailing = syllable % TRAILING_COUNT;
    if (trailing != 0)
      return {code_point - trailing, TRAILING + trailing};
    const std::uint32_t open = syllable / TRAILING_COUNT; // without a trailing consonant
    return {LEADING + open / VOWEL_COUNT, VOWELS + open % VOWEL_COUNT};
  }
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

// A code point in the low 24 bits, and its combining class above.
using Item = std::uint32_t;
constexpr unsigned CLASS_SHIFT = 24;
constexpr std::uint32_t CODE_POINT = (1U << CLASS_SHIFT) - 1;

Item item_of(std::uint32_t code_point, NfcKind kind) {
  return std::uint32_t{kind.combining_class} << CLASS_SHIFT | code_point;
}

// Appends the full decomposition of a code point. The first part of a step may decompose
// further; the second part never does. For U+1EAD (a with circumflex and dot below):
//   1EAD -> 1EA1 0302     `later` is {0302}
//   1EA1 -> 0061 0323     `later` is {0302, 0323}
//   appended: 0061, then `later` from its end: 0323 0302
void append_decomposed(std::uint32_t code_point, std::vector<Item> &items) {
  std::array<std::uint32_t, 4> later; // cpp/generate/bpe_tables.py checks that 4 are enough
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

// Sorts items[0..size) by combining class, stably.
void sort_by_class(Item *items, std::size_t size) {
  constexpr std::size_t MAX_INSERTED = 16;
  if (size <= MAX_INSERTED) {
    for (std::size_t i = 1; i < size; ++i)
      for (std::size_t at = i;
           at != 0 && items[at - 1] >> CLASS_SHIFT > items[at] >> CLASS_SHIFT; --at)
        std::swap(items[at - 1], items[at]);
    return;
  }
  // The index of the first item of each class. A combining class is below 256.
  std::array<std::size_t, 257> starts{};
  for (std::size_t i = 0; i < size; ++i)
    ++starts[(items[i] >> CLASS_SHIFT) + 1];
  for (std::size_t i = 1; i < starts.size(); ++i)
    starts[i] += starts[i - 1];
  const std::vector<Item> unsorted(items, items + size);
  for (const Item item : unsorted)
    items[starts[item >> CLASS_SHIFT]++] = item;
}

// Sorts each run of marks (combining class not 0) by combining class, stably.
void sort_marks(std::vector<Item> &items) {
  const auto is_mark = [](Item item) { return item > CODE_POINT; };
  const auto compare = [](Item a, Item b) { return a >> CLASS_SHIFT < b >> CLASS_SHIFT; };
  auto at = items.begin();
  while ((at = std::find_if(at, items.end(), is_mark)) != items.end()) {
    const auto end = std::find_if_not(at, items.end(), is_mark);
    if (!std::is_sorted(at, end, compare))
      sort_by_class(&*at, static_cast<std::size_t>(end - at));
    at = end;
  }
}

// Composes each code point with the last starter before it, if a composite exists, and if no
// kept code point between the two blocks the composition. A kept code point blocks the
// composition if its combining class is 0, or is not below the combining class of the later
// code point.
void compose(std::vector<Item> &items) {
  std::size_t kept = 0;               // number of items kept so far
  std::size_t starter = items.size(); // index of the last starter kept
  std::uint32_t last_class = 0;       // combining class of the last item kept
  for (const Item item : items) {
    const std::uint32_t class_ = item >> CLASS_SHIFT;
    // If last_class is 0, the last kept code point is the starter itself.
    if (starter < kept && (last_class == 0 || last_class < class_)) {
      const std::uint32_t composed = composite(items[starter], item & CODE_POINT);
      if (composed != NO_CODE_POINT) {
        items[starter] = composed;
        continue;
      }
    }
    if (class_ == 0)
      starter = kept;
    last_class = class_;
    items[kept++] = item;
  }
  items.resize(kept);
}

void append_code_point(std::uint32_t code_point, std::vector<std::uint8_t> &to) {
  // decode_utf8 returns U+DC00 + byte for a byte that is not UTF-8.
  if (code_point - 0xDC00 < 0x100)
    return to.push_back(static_cast<std::uint8_t>(code_point - 0xDC00));
  std::uint8_t bytes[4];
  const std::size_t size = encode_utf8(code_point, bytes);
  for (std::size_t i = 0; i < size; ++i)
    to.push_back(bytes[i]);
}

// Returns false if the code point is its own decomposition; may return true for any other.
bool may_decompose(NfcKind kind) {
  return (kind.flags & (COMPOSES_WITH_NEXT | NOT_IN_NFC)) != 0;
}

// Appends the NFC of a text by the definition: decompose, sort marks, compose.
void append_normal(const std::uint8_t *data, std::size_t size, std::vector<Item> &items,
                   std::vector<std::uint8_t> &to) {
  items.clear();
  for (std::size_t at = 0; at < size;) {
    const Decoded decoded = decode_utf8(data + at, size - at);
    at += decoded.width;
    const NfcKind kind = kind_of(decoded.code_point);
    if (!may_decompose(kind))
      items.push_back(item_of(decoded.code_point, kind));
    else
      append_decomposed(decoded.code_point, items);
  }
  sort_marks(items);
  compose(items);
  for (const Item item : items)
    append_code_point(item & CODE_POINT, to);
}

// Returns for each byte whether it may start a code point that is not a stable starter.
constexpr std::array<bool, 256> unstable_leads() {
  std::array<bool, 256> may_compose{};
  for (const std::uint8_t lead : UNSTABLE_LEADS)
    may_compose[lead] = true;
  return may_compose;
}
constexpr std::array<bool, 256> IS_UNSTABLE_LEAD = unstable_leads();

// Returns the first position from `at` on that may start a code point that is not a stable
// starter. Skips continuation bytes, and bytes that are not UTF-8.
std::size_t skip_stable(const std::uint8_t *data, std::size_t size, std::size_t at) {
  for (; size - at >= 8; at += 8) {
    if (is_ascii(data + at, 8))
      continue;
    bool is_unstable = false;
    for (std::size_t i = 0; i < 8; ++i)
      is_unstable |= IS_UNSTABLE_LEAD[data[at + i]];
    if (is_unstable)
      break;
  }
  while (at < size && !IS_UNSTABLE_LEAD[data[at]])
    ++at;
  return at;
}

// A bit for each block of 64 code points below U+10000, in ascending order. The bit is 1 if the
// block has surrogates, or a code point that is not a stable starter.
using UnstableBlocks = std::array<std::uint64_t, 16>;

const UnstableBlocks &unstable_blocks() {
  static const UnstableBlocks all = [] {
    UnstableBlocks blocks{};
    for (std::uint32_t code_point = 0; code_point < 0x10000; ++code_point)
      if (!is_stable_starter(kind_of(code_point)) || (code_point & 0xF800) == 0xD800)
        blocks[code_point >> 12] |= std::uint64_t{1} << (code_point >> 6 & 63);
    return blocks;
  }();
  return all;
}

// Calls visit(start, end) for each part of a text that may not be in NFC, in order, until visit
// returns false. Each part starts and ends at an NFC boundary, or at an end of the text. The
// text between two parts is in NFC.
template <typename Visit>
void for_unnormalized(const std::uint8_t *data, std::size_t size, Visit visit) {
  std::size_t at = 0;
  std::size_t floor = 0; // the last known NFC boundary, or 0
  while ((at = skip_stable(data, size, at)) < size) {
    Decoded decoded = decode_utf8(data + at, size - at);
    NfcKind kind = kind_of(decoded.code_point);
    if (is_stable_starter(kind)) {
      at += decoded.width;
      continue;
    }
    std::size_t start = at;
    // True if the last starter may compose with a later code point.
    bool may_compose = (kind.flags & COMPOSES_WITH_NEXT) != 0;
    bool is_surely_nfc = (kind.flags & NOT_IN_NFC) == 0;
    if ((kind.flags & BOUNDARY_BEFORE) == 0 && at > floor) {
      // Every code point from `floor` to `at` is a stable starter, so the last one has an NFC
      // boundary before it.
      start = last_start(data, floor, at);
      may_compose = (kind_of(decode_utf8(data + start, at - start).code_point).flags &
                     COMPOSES_WITH_NEXT) != 0;
      is_surely_nfc =
          is_surely_nfc && !(may_compose && (kind.flags & COMPOSES_WITH_PREVIOUS) != 0);
    }
    // Marks are in NFC if their combining classes never descend and none of the marks composes.
    std::uint32_t last_class = kind.combining_class;
    for (at += decoded.width; at < size; at += decoded.width) {
      decoded = decode_utf8(data + at, size - at);
      kind = kind_of(decoded.code_point);
      if ((kind.flags & BOUNDARY_BEFORE) != 0)
        break;
      const bool is_in_order = kind.combining_class == 0 || last_class <= kind.combining_class;
      is_surely_nfc = is_surely_nfc && is_in_order && (kind.flags & NOT_IN_NFC) == 0 &&
                      !(may_compose && (kind.flags & COMPOSES_WITH_PREVIOUS) != 0);
      last_class = kind.combining_class;
    }
    if (!is_surely_nfc && !visit(start, at))
      return;
    floor = at;
  }
}

} // namespace

bool is_nfc(const std::uint8_t *data, std::size_t size) {
  bool is_same = true;
  std::vector<Item> items;
  std::vector<std::uint8_t> normal;
  for_unnormalized(data, size, [&](std::size_t start, std::size_t end) {
    normal.clear();
    append_normal(data + start, end - start, items, normal);
    is_same = std::equal(normal.begin(), normal.end(), data + start, data + end);
    return is_same;
  });
  return is_same;
}

template <typename Unit> bool is_surely_nfc(const Unit *units, std::size_t size) {
  constexpr std::size_t AT_ONCE = 32;
  // All code points below U+0300 and from U+2002 (punctuation) to U+20CF are stable starters.
  // The compiler uses vector instructions for this test.
  const auto is_common = [units](std::size_t begin, std::size_t end) {
    unsigned others = 0;
    for (std::size_t i = begin; i < end; ++i)
      others |= static_cast<unsigned>(units[i] >= 0x300) &
                static_cast<unsigned>(static_cast<Unit>(units[i] - 0x2002) >= 0x20D0 - 0x2002);
    return others == 0;
  };
  const UnstableBlocks &blocks = unstable_blocks();
  std::uint32_t starter = 0;    // the last starter so far
  std::uint32_t last_class = 0; // the combining class of the last code point so far
  for (std::size_t at = 0; at < size; at += AT_ONCE) {
    const std::size_t end = at + std::min(AT_ONCE, size - at);
    std::uint64_t is_unstable = 0;
    if (end != at + AT_ONCE || !is_common(at, at + AT_ONCE))
      for (std::size_t i = at; i < end; ++i)
        is_unstable |= (blocks[units[i] >> 12 & 15] >> (units[i] >> 6 & 63) & 1) |
                       std::uint32_t{units[i]} >> 16;
    if (is_unstable == 0) {
      starter = units[end - 1];
      last_class = 0;
      continue;
    }
    // The quick check of Unicode (UAX #15), with one addition: a code point that may compose is
    // no obstacle if the last starter composes with nothing.
    for (std::size_t i = at; i < end; ++i) {
      const std::uint32_t unit = units[i];
      const NfcKind kind = kind_of(unit);
      if ((unit & 0xFFFFF800) == 0xD800 || (kind.flags & NOT_IN_NFC) != 0 ||
          (kind.combining_class != 0 && kind.combining_class < last_class) ||
          ((kind.flags & COMPOSES_WITH_PREVIOUS) != 0 &&
           (kind_of(starter).flags & COMPOSES_WITH_NEXT) != 0))
        return false;
      last_class = kind.combining_class;
      if (last_class == 0)
        starter = unit;
    }
  }
  return true;
}
template bool is_surely_nfc(const std::uint16_t *, std::size_t);
template bool is_surely_nfc(const std::uint32_t *, std::size_t);

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

void to_nfd(const std::uint8_t *data, std::size_t size, std::vector<std::uint8_t> &to) {
  std::size_t copied = 0;
  std::vector<Item> items;
  for (std::size_t at = 0; at < size;) {
    if (data[at] < 0x80) { // no ASCII character decomposes, or is a mark
      ++at;
      continue;
    }
    // A part without starters that are their own decomposition. Marks are sorted within a part.
    const std::size_t start = at;
    items.clear();
    while (at < size && data[at] >= 0x80) {
      const Decoded decoded = decode_utf8(data + at, size - at);
      const NfcKind kind = kind_of(decoded.code_point);
      if (kind.combining_class == 0 && !may_decompose(kind)) {
        if (at == start)
          at += decoded.width;
        break;
      }
      append_decomposed(decoded.code_point, items);
      at += decoded.width;
    }
    if (items.empty())
      continue;
    to.insert(to.end(), data + copied, data + start);
    sort_marks(items);
    for (const Item item : items)
      append_code_point(item & CODE_POINT, to);
    copied = at;
  }
  to.insert(to.end(), data + copied, data + size);
}

void append_canonical(std::uint32_t code_point, std::vector<std::uint32_t> &to) {
  std::vector<Item> items;
  append_decomposed(code_point, items);
  for (const Item item : items)
    to.push_back(item & CODE_POINT);
}

std::uint32_t combining_class(std::uint32_t code_point) {
  return kind_of(code_point).combining_class;
}

std::uint32_t composed(std::uint32_t first, std::uint32_t second) {
  return composite(first, second);
}

bool has_nfc_boundary_before(std::uint32_t code_point) {
  return (kind_of(code_point).flags & BOUNDARY_BEFORE) != 0;
}

std::size_t last_nfc_cut(const std::uint8_t *data, std::size_t size, std::size_t from) {
  std::size_t end = size - incomplete_size(data, size);
  while (end > from) {
    const std::size_t start = last_start(data, 0, end);
    if (start >= from &&
        has_nfc_boundary_before(decode_utf8(data + start, end - start).code_point))
      return start;
    end = start;
  }
  return 0;
}

} // namespace pretok
