#include "core/unicode/nfc.hpp"

#include "core/base/bits.hpp"
#include "core/base/instruction_set.hpp"
#include "core/unicode/compositions.hpp"
#include "core/unicode/nfc_kind.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <array>
#include <utility>

#if PRETOK_NEON_KERNELS
#include <arm_neon.h>
#endif

namespace pretok {
namespace {

// A code point in the low 24 bits, and its combining class above.
using Item = std::uint32_t;
constexpr unsigned CLASS_SHIFT = 24;
constexpr std::uint32_t CODE_POINT = (1U << CLASS_SHIFT) - 1;

Item item_of(std::uint32_t code_point, NfcKind kind) {
  return std::uint32_t{kind.combining_class} << CLASS_SHIFT | code_point;
}

// Appends the full decomposition of a code point.
void append_decomposed(std::uint32_t code_point, std::vector<Item> &items) {
  std::uint32_t parts[MAX_DECOMPOSITION];
  const std::size_t count = decompose(code_point, parts);
  for (std::size_t i = 0; i < count; ++i)
    items.push_back(item_of(parts[i], nfc_kind_of(parts[i])));
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

void compose_all(std::vector<Item> &items) {
  compose(
      items, [](Item item) { return item >> CLASS_SHIFT; },
      [](Item &starter, Item item) {
        const std::uint32_t composite = composed(starter, item & CODE_POINT);
        starter = composite == NOT_COMPOSED ? starter : composite;
        return composite != NOT_COMPOSED;
      });
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

// Appends the NFC of a text by the definition: decompose, sort marks, compose.
void append_normal(const std::uint8_t *data, std::size_t size, std::vector<Item> &items,
                   std::vector<std::uint8_t> &to) {
  items.clear();
  for (std::size_t at = 0; at < size;) {
    const Decoded decoded = decode_utf8(data + at, size - at);
    at += decoded.width;
    const NfcKind kind = nfc_kind_of(decoded.code_point);
    if (!may_decompose(kind))
      items.push_back(item_of(decoded.code_point, kind));
    else
      append_decomposed(decoded.code_point, items);
  }
  sort_marks(items);
  compose_all(items);
  for (const Item item : items)
    append_code_point(item & CODE_POINT, to);
}

// Returns for each byte whether it may start a code point that is not a stable starter.
constexpr std::array<bool, 256> unstable_leads() {
  std::array<bool, 256> may_compose{};
  for (const std::uint8_t lead : nfc_tables::UNSTABLE_LEADS)
    may_compose[lead] = true;
  return may_compose;
}
constexpr std::array<bool, 256> IS_UNSTABLE_LEAD = unstable_leads();

#if PRETOK_NEON_KERNELS
// Sets of the leads of unstable code points. A set has one lead of a sequence of three bytes,
// or all other leads.
struct UnstablePairs {
  std::array<std::uint8_t, 64> sets_of_lead{};   // from 0xC0 on: a bit for the set of a lead
  std::array<std::uint8_t, 64> sets_of_second{}; // from 0x80 on: the sets of which a lead and
                                                 // this second byte may start an unstable code
                                                 // point
};

constexpr bool is_unstable_pair(std::uint32_t lead, std::uint32_t second) {
  const std::uint32_t first = (lead & 0x0F) << 12 | second << 6;
  for (std::uint32_t code_point = first; code_point < first + 64; ++code_point)
    if (!is_stable_starter(nfc_kind_of(code_point)))
      return true;
  return false;
}

constexpr UnstablePairs unstable_pairs() {
  UnstablePairs pairs;
  constexpr std::uint8_t OTHER_LEADS = 1;
  std::uint8_t set = OTHER_LEADS;
  for (std::uint8_t &sets : pairs.sets_of_second)
    sets = OTHER_LEADS;
  for (const std::uint8_t lead : nfc_tables::UNSTABLE_LEADS) {
    const bool is_three = lead >= 0xE0 && lead < 0xF0;
    set = static_cast<std::uint8_t>(is_three ? set << 1 : set);
    pairs.sets_of_lead[lead - 0xC0] = is_three ? set : OTHER_LEADS;
    for (std::uint32_t second = 0; is_three && second < 64; ++second)
      if (is_unstable_pair(lead, second))
        pairs.sets_of_second[second] |= set;
  }
  return pairs;
}
constexpr UnstablePairs UNSTABLE_PAIRS = unstable_pairs();
static_assert(UNSTABLE_PAIRS.sets_of_lead[0xEF - 0xC0] != 0, "a byte has a bit for each set");

// Advances `at` in steps of 16 bytes, and stops before the last 16. Returns true if `at` may
// start a code point that is not a stable starter.
bool skip_stable_blocks(const std::uint8_t *data, std::size_t size, std::size_t &at) {
  const uint8x16x4_t leads = vld1q_u8_x4(UNSTABLE_PAIRS.sets_of_lead.data());
  const uint8x16x4_t seconds = vld1q_u8_x4(UNSTABLE_PAIRS.sets_of_second.data());
  for (; size - at > 16; at += 16) {
    // vqtbl4q returns 0 for an index above 63: for a byte below 0xC0 in `first`.
    const uint8x16_t first = vsubq_u8(vld1q_u8(data + at), vdupq_n_u8(0xC0));
    const uint8x16_t second = vsubq_u8(vld1q_u8(data + at + 1), vdupq_n_u8(0x80));
    const uint8x16_t found = vtstq_u8(vqtbl4q_u8(leads, first), vqtbl4q_u8(seconds, second));
    const std::uint64_t four_bits_each =
        vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(found), 4)), 0);
    if (four_bits_each != 0) {
      at += lowest_bit(four_bits_each) / 4;
      return true;
    }
  }
  return false;
}
#endif

// Returns the first position from `at` on that may start a code point that is not a stable
// starter. Skips continuation bytes, and bytes that are not UTF-8.
std::size_t skip_stable(const std::uint8_t *data, std::size_t size, std::size_t at) {
#if PRETOK_NEON_KERNELS
  if (skip_stable_blocks(data, size, at))
    return at;
#endif
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

// Calls visit(start, end) for each part of a text that may not be in NFC, in order, until visit
// returns false. Each part starts and ends at an NFC boundary, or at an end of the text. The
// text between two parts is in NFC.
template <typename Visit>
void for_unnormalized(const std::uint8_t *data, std::size_t size, Visit visit) {
  std::size_t at = 0;
  std::size_t floor = 0; // the last known NFC boundary, or 0
  while ((at = skip_stable(data, size, at)) < size) {
    Decoded decoded = decode_fast(data + at, size - at);
    NfcKind kind = nfc_kind_of(decoded.code_point);
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
      may_compose = (nfc_kind_of(decode_utf8(data + start, at - start).code_point).flags &
                     COMPOSES_WITH_NEXT) != 0;
      is_surely_nfc =
          is_surely_nfc && !(may_compose && (kind.flags & COMPOSES_WITH_PREVIOUS) != 0);
    }
    // Marks are in NFC if their combining classes never descend and none of the marks composes.
    std::uint32_t last_class = kind.combining_class;
    for (at += decoded.width; at < size; at += decoded.width) {
      decoded = decode_utf8(data + at, size - at);
      kind = nfc_kind_of(decoded.code_point);
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
      const NfcKind kind = nfc_kind_of(decoded.code_point);
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

std::uint32_t combining_class(std::uint32_t code_point) {
  return nfc_kind_of(code_point).combining_class;
}

bool has_nfc_boundary_before(std::uint32_t code_point) {
  return (nfc_kind_of(code_point).flags & BOUNDARY_BEFORE) != 0;
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
