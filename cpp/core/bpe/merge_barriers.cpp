#include "core/bpe/merge_barriers.hpp"

#include "core/base/bits.hpp"

namespace pretok {
namespace {

// Returns `which ? yes : no` without a branch, even if the compiler would prefer one.
std::uint32_t select(bool which, std::uint32_t yes, std::uint32_t no) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(which);
  return (yes & mask) | (no & ~mask);
}

// The numbers first, first + stride, … below end.
struct Range {
  std::uint32_t first;
  std::uint32_t end;
  std::uint32_t stride;
};
constexpr Range EMPTY_RANGE{0, 0, 1};

// Returns the indices in `chars_` of the characters that end with these continuation bytes.
Range ending_with(const std::uint8_t *bytes, std::size_t size, std::uint32_t first_emoji,
                  std::uint32_t end) {
  if (size == 3 && bytes[0] == 0x9F) { // one emoji without its first byte, 0xF0
    const std::uint32_t at = first_emoji + ((bytes[1] & 0x3FU) << 6 | (bytes[2] & 0x3FU));
    return {at, at + 1, 1};
  }
  if (size > 2)
    return EMPTY_RANGE;
  // An emoji is in the table at an index that has the same last 12 bits as its code point. The
  // index of any other character is its code point. So one stride finds both kinds.
  std::uint32_t value = bytes[0] & 0x3FU;
  if (size == 2)
    value = value << 6 | (bytes[1] & 0x3FU);
  const std::uint32_t stride = 1U << 6 * size;
  const std::uint32_t least = size == 1 ? 0x80 : 0x800;
  return {value < least ? value + (least + stride - 1 - value) / stride * stride : value, end,
          stride};
}

// Returns the indices in `chars_` of the characters that begin with these bytes. If `bytes` has
// more than one character, returns the index of the first one.
Range beginning_with(const std::uint8_t *bytes, std::size_t size, std::uint32_t first_emoji) {
  const std::uint8_t lead = bytes[0];
  if (lead < 0x80)
    return {lead, lead + 1U, 1};
  const std::size_t width = lead >= 0xC2 && lead < 0xE0 ? 2
                            : (lead & 0xF0) == 0xE0     ? 3
                            : lead == 0xF0              ? 4
                                                        : 0;
  if (width == 0 || (width == 4 && size > 1 && bytes[1] != 0x9F))
    return EMPTY_RANGE;
  std::uint32_t value = width == 4 ? first_emoji >> 12 : lead & (width == 2 ? 0x1FU : 0x0FU);
  std::uint32_t count = 1;
  for (std::size_t i = width == 4 ? 2 : 1; i < width; ++i) {
    if (i < size && !is_tail(bytes[i]))
      return EMPTY_RANGE;
    value = value << 6 | (i < size ? bytes[i] & 0x3FU : 0);
    count *= i < size ? 1 : 64;
  }
  // The index of a three-byte character is its code point. `first_emoji` is the first index
  // that is not a code point. Code points of three bytes from `first_emoji` on have no index.
  return {value, width == 3 ? std::min(value + count, first_emoji) : value + count, 1};
}

} // namespace

void MergeBarriers::begin_build(const OrderedMerges &merges) {
  // Each build sets all entries that index_of may return. It returns no surrogate, and no emoji
  // if emoji_count_ is 0.
  if (chars_ == nullptr) {
    chars_.reset(new Char[NO_CHAR + 1]);
    merge_starts_.reset(new MergeStart[NO_CHAR + 1]);
  }
  last_merge_.assign(NO_CHAR + 1, 0);
  chars_[NO_CHAR] = {{NO_ID, NO_ID, NO_ID}, 0xFFFF, 0xFFFF};
  merge_starts_[NO_CHAR] = {{OrderedMerges::NO_MERGE}, 0, 0};
  full_pairs_.clear();
  marks_.reset(0);
  ascii_pairs_ = {};
  for (std::uint32_t byte = 0; byte < 0x80; ++byte)
    add_char(byte, {{byte}, 1, 0}, 0, merges);
  std::array<std::uint8_t, 4> bytes{};
  for (std::uint32_t code_point = 0x80; code_point < 0x800; ++code_point) {
    encode_utf8(code_point, bytes.data());
    const std::uint32_t merge = merges.of_bytes(bytes[0], bytes[1]);
    add_char(code_point,
             merge != OrderedMerges::NO_MERGE ? Merging{{merge}, 1, merge}
                                              : Merging{{bytes[0], bytes[1]}, 2, 0},
             NO_CHAR_BIT, merges);
  }
  // may_end[i]: whether the second byte 0x80 + i merges with any third byte.
  std::array<bool, 64> may_end{};
  for (std::uint32_t i = 0; i < 64 * 64; ++i)
    may_end[i >> 6] |= merges.of_bytes(static_cast<std::uint8_t>(0x80 | i >> 6),
                                       static_cast<std::uint8_t>(0x80 | (i & 0x3F))) !=
                       OrderedMerges::NO_MERGE;
  for (std::uint32_t first = 0x800; first < FIRST_EMOJI_INDEX; first += 0x40) {
    encode_utf8(first, bytes.data());
    if (index_of(first) == NO_CHAR)
      continue;
    if (may_end[bytes[1] & 0x3FU] ||
        merges.of_bytes(bytes[0], bytes[1]) != OrderedMerges::NO_MERGE)
      add_three(first, bytes[0], bytes[1], merges);
    else
      add_unmerged(first, bytes[0], bytes[1], merges);
  }
  emoji_count_ = merges.of_bytes(0xF0, 0x9F) == OrderedMerges::NO_MERGE ? 0 : EMOJI_COUNT;
  for (std::uint32_t i = 0; i < emoji_count_; ++i) {
    encode_utf8(FIRST_EMOJI_CODE_POINT + i, bytes.data());
    add_char(FIRST_EMOJI_INDEX + i, merge_char(bytes.data(), 4, merges), NO_CHAR_BIT, merges);
  }
}

// If the ids of a character include a step (VocabularyData::first_step), replaces them by the
// ids of the bytes of the character. begin_merge then starts the character with these bytes.
// Drops all emoji: an emoji has four bytes, and so may have more than MAX_IDS ids.
void MergeBarriers::replace_steps(std::uint32_t first_step, const OrderedMerges &merges) {
  emoji_count_ = 0;
  std::array<std::uint8_t, 4> bytes{};
  for (std::uint32_t at = 0x80; at < FIRST_EMOJI_INDEX; ++at) {
    if (index_of(at) == NO_CHAR)
      continue;
    const auto &ids = chars_[at].ids;
    if (std::none_of(ids.begin(), ids.end(), [first_step](std::uint32_t id) {
          return id >= first_step && id != NO_ID;
        }))
      continue;
    const std::size_t size = encode_utf8(at, bytes.data());
    for (std::size_t i = 0; i < size; ++i) {
      chars_[at].ids[i] = merges.id(bytes[i]);
      merge_starts_[at].symbols[i] = bytes[i];
    }
  }
}

// Adds the 64 characters that begin with the bytes `one` and `two`, and whose bytes do not
// merge.
void MergeBarriers::add_unmerged(std::uint32_t first, std::uint8_t one, std::uint8_t two,
                                 const OrderedMerges &merges) {
  const std::uint32_t id_of_one = merges.id(one);
  const std::uint32_t id_of_two = merges.id(two);
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::uint32_t three = 0x80 | i;
    chars_[first + i] = {{id_of_one, id_of_two, merges.id(three)}, 0, 0};
    merge_starts_[first + i] = {{one, two, three}, NO_CHAR_BIT, 0};
  }
}

// Adds the 64 characters that begin with the bytes `one` and `two`. The result equals calling
// merge_char for each character. Branchless: a processor cannot predict which bytes merge.
void MergeBarriers::add_three(std::uint32_t first, std::uint8_t one, std::uint8_t two,
                              const OrderedMerges &merges) {
  constexpr std::uint32_t NO_MERGE = OrderedMerges::NO_MERGE;
  constexpr std::size_t COUNT = 64;
  const std::uint32_t front = merges.of_bytes(one, two);
  std::array<std::uint32_t, COUNT> lows;         // the first merge of each character
  std::array<OrderedMerges::Parts, COUNT> pairs; // the two symbols after the first merge
  for (std::uint32_t i = 0; i < COUNT; ++i) {
    const std::uint32_t three = 0x80 | i;
    const std::uint32_t back = merges.of_bytes(two, static_cast<std::uint8_t>(three));
    lows[i] = std::min(front, back);
    pairs[i] = {select(front < back, front, one), select(front < back, three, back)};
    merges.prefetch(pairs[i].left, pairs[i].right);
  }
  for (std::uint32_t i = 0; i < COUNT; ++i) {
    const auto [left, right] = pairs[i];
    const bool are_two = lows[i] != NO_MERGE;
    const std::uint32_t all = select(are_two, merges.find(left, right), NO_MERGE);
    const bool is_one = all != NO_MERGE;
    const std::array<std::uint32_t, MAX_IDS> symbols = {
        select(is_one, all, select(are_two, left, one)),
        select(is_one, NO_MERGE, select(are_two, right, two)),
        select(are_two, NO_MERGE, 0x80 | i)};
    merge_starts_[first + i] = {symbols, NO_CHAR_BIT, 0};
    last_merge_[first + i] = std::max(select(is_one, all, 0), select(are_two, lows[i], 0));
    Char &entry = chars_[first + i];
    entry.to_right = entry.to_left = 0;
    for (std::size_t at = 0; at < MAX_IDS; ++at) {
      const bool is_there = symbols[at] != NO_MERGE;
      entry.ids[at] = select(is_there, merges.id(select(is_there, symbols[at], 0)), NO_ID);
    }
  }
}

// Merges the bytes of one character, without its neighbors.
MergeBarriers::Merging MergeBarriers::merge_char(const std::uint8_t *bytes, std::size_t size,
                                                 const OrderedMerges &merges) {
  Merging state{{}, size, 0};
  std::copy(bytes, bytes + size, state.symbols.begin());
  for (;;) {
    std::uint32_t low = OrderedMerges::NO_MERGE;
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < state.count; ++i) {
      const std::uint32_t merge = merges.find(state.symbols[i], state.symbols[i + 1]);
      place = merge < low ? i : place;
      low = std::min(low, merge);
    }
    if (low == OrderedMerges::NO_MERGE)
      return state;
    state.symbols[place] = low;
    state.last = std::max(state.last, low);
    for (std::size_t i = place + 1; i + 1 < state.count; ++i)
      state.symbols[i] = state.symbols[i + 1];
    --state.count;
  }
}

// A stray continuation byte may follow a character of several bytes. The last byte of the
// character may merge with the stray byte before the bytes of the character merge. So the
// `early_right` of such a character is NO_CHAR_BIT: before a stray byte, begin_merge starts the
// character as its bytes.
void MergeBarriers::add_char(std::uint32_t index, const Merging &merged,
                             std::uint16_t early_right, const OrderedMerges &merges) {
  MergeStart start{
      {merged.symbols[0], OrderedMerges::NO_MERGE, OrderedMerges::NO_MERGE}, early_right, 0};
  Char entry{{merges.id(merged.symbols[0]), NO_ID, NO_ID}, 0, 0};
  for (std::size_t i = 1; i < merged.count; ++i) {
    start.symbols[i] = merged.symbols[i];
    entry.ids[i] = merges.id(merged.symbols[i]);
  }
  merge_starts_[index] = start;
  chars_[index] = entry;
  last_merge_[index] = merged.last;
}

// Adds a merge of two symbols with the bytes `left` and `right`. `symbol` is its result.
void MergeBarriers::add(const std::uint8_t *left, std::size_t left_size,
                        const std::uint8_t *right, std::size_t right_size,
                        std::uint32_t symbol) {
  if (is_tail(right[0]))
    return; // the symbols meet within a character, not at a boundary of two characters
  // Find the start of the last character of the left symbol.
  std::size_t start = left_size - 1;
  while (start > 0 && is_tail(left[start]))
    --start;
  left += start;
  left_size -= start;
  if (left_size == 1 && left[0] < 0x80 && right[0] < 0x80)
    return ascii_pairs_.add(left[0], right[0]);
  const Decoded a = decode_utf8(left, left_size);
  const Decoded b = decode_utf8(right, right_size);
  const std::uint32_t one = index_of(a.code_point);
  const std::uint32_t other = index_of(b.code_point);
  const bool are_full = one != NO_CHAR && a.width == left_size && other != NO_CHAR;
  // In a vocabulary that is not ordered, the pair may rank before the merges of its characters.
  // Then the characters must not start fully merged, so the merge is added as a partial merge,
  // which begin_merge takes into account.
  if (are_full && symbol > std::max(last_merge_[one], last_merge_[other]))
    full_pairs_.push_back(std::uint64_t{one} << 17 | other);
  else
    add_partial(left, left_size, right, right_size, symbol);
}

// Sets one bit in `to_right` of the characters that may be on the left, and the same bit in
// `to_left` of the characters that may be on the right. Characters on the left end with the
// bytes `left`, or begin with them if `left` begins with a lead byte. Characters on the right
// begin with the bytes `right`.
void MergeBarriers::add_partial(const std::uint8_t *left, std::size_t left_size,
                                const std::uint8_t *right, std::size_t right_size,
                                std::uint32_t symbol) {
  // Any choice of the bit is correct. Choosing the bit by the first byte of `right` keeps
  // unrelated merges apart. Merges whose left side is ASCII have their own bit. Their left side
  // is mostly a space, which merges with so many bytes that it would get all other bits.
  const unsigned bit = left[0] < 0x80 ? 0 : 1 + right[0] % 14;
  const Range on_left = is_tail(left[0])
                            ? ending_with(left, left_size, FIRST_EMOJI_INDEX, NO_CHAR)
                            : beginning_with(left, left_size, FIRST_EMOJI_INDEX);
  const Range on_right = beginning_with(right, right_size, FIRST_EMOJI_INDEX);
  add_mark(on_left.first, on_left.end, on_left.stride, true, bit, symbol);
  add_mark(on_right.first, on_right.end, on_right.stride, false, bit, symbol);
}

// Sets a bit of the characters of a range, in `to_right` if `is_left`, else in `to_left`. Many
// merges set bits of the same long range, so finish_build sets all bits of such a range at
// once. Merges are added in ascending order, so a later merge is early for no more characters
// than the first one with the same bit, and adds nothing.
void MergeBarriers::add_mark(std::uint32_t first, std::uint32_t end, std::uint32_t stride,
                             bool is_left, unsigned bit, std::uint32_t symbol) {
  constexpr std::uint32_t SHORT = 16; // characters
  const auto mask = static_cast<std::uint16_t>(1U << bit);
  if (end <= first)
    return;
  if ((end - first) / stride < SHORT) {
    Mark mark{0, first, end, stride, is_left, mask, {}};
    mark.symbols[bit] = symbol;
    return set_bits(mark);
  }
  const std::uint64_t range =
      (std::uint64_t{first} << 32 | std::uint64_t{end} << 12 | std::uint64_t{stride == 1} << 8 |
       std::uint64_t{stride == 64} << 9 | std::uint64_t{is_left} << 1) +
      1; // never 0
  const HashKey key = hash_key();
  marks_.make_room([&](const Mark &mark) { return hash_words(mark.range, 0, key); });
  Mark &mark = marks_.find_or_add(hash_words(range, 0, key),
                                  [range](const Mark &other) { return other.range == range; });
  if (mark.is_free())
    mark = {range, first, end, stride, is_left, 0, {}};
  if ((mark.bits & mask) == 0)
    mark.symbols[bit] = symbol;
  mark.bits |= mask;
}

void MergeBarriers::set_bits(const Mark &mark) {
  // Returns the bits of the merges that rank before the last merge of a character.
  const auto early = [&mark](std::uint32_t last) {
    std::uint16_t bits = 0;
    for (std::uint32_t rest = mark.bits; rest != 0; rest &= rest - 1)
      if (mark.symbols[lowest_bit(rest)] < last)
        bits |= static_cast<std::uint16_t>(rest & (0 - rest));
    return bits;
  };
  for (std::uint32_t at = mark.first; at < mark.end; at += mark.stride) {
    std::uint16_t &bits = mark.is_left ? chars_[at].to_right : chars_[at].to_left;
    bits |= mark.bits;
    if (last_merge_[at] == 0)
      continue;
    MergeStart &start = merge_starts_[at];
    (mark.is_left ? start.early_right : start.early_left) |= early(last_merge_[at]);
  }
}

void MergeBarriers::finish_build() {
  struct Slot { // a pair of characters; never 0, since ascii_pairs_ has that pair
    std::uint64_t pair = 0;

    bool is_free() const { return pair == 0; }
  };
  OpenTable<Slot> distinct(full_pairs_.size());
  const HashKey key = hash_key();
  for (const std::uint64_t pair : full_pairs_)
    distinct
        .find_or_add(hash_words(pair, 0, key),
                     [pair](const Slot &slot) { return slot.pair == pair; })
        .pair = pair;
  filter_.reset(distinct.size());
  for (const std::uint64_t pair : full_pairs_)
    filter_.add(hash_of(static_cast<std::uint32_t>(pair >> 17),
                        static_cast<std::uint32_t>(pair & 0x1FFFF)));
  for (const Mark &mark : marks_)
    if (!mark.is_free())
      set_bits(mark);
  full_pairs_ = {};
  last_merge_ = {};
  marks_.reset(0);
}

} // namespace pretok
