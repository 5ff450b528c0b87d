// Finds the merge barriers of a pre-token: boundaries between characters that no merge of the
// vocabulary can cross.
//
// A merge that crosses the boundary between two characters joins a symbol that ends at the
// boundary with a symbol that begins at the boundary. Each of the two symbols is part of the
// character on its side of the boundary, or contains that character. So the merges of a
// vocabulary determine which two characters may merge across their boundary. Most pairs of
// Chinese characters cannot merge. Barriers divide a pre-token into segments, mostly single
// characters. Each segment is merged or looked up separately. An example, where the vocabulary
// has merges that join 中 with 国 and 美 with 国:
//
//   pre-token   我 | 爱 | 中 国 | 和 | 美 国     | is a barrier
//   segments    5: three of one character, two of two
//
// The answer is conservative: a function may miss a barrier, but no merge crosses a position
// that it reports. Bytes that are not UTF-8, and characters without an entry in `chars_`, have
// no barrier before or after them.
#pragma once

#include "core/base/ascii_pairs.hpp"
#include "core/base/hash.hpp"
#include "core/base/ids.hpp"
#include "core/base/open_table.hpp"
#include "core/bpe/ordered_merges.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pretok {

class MergeBarriers {
public:
  static constexpr std::size_t MAX_IDS = 3; // of one character

  // A character of up to three bytes of UTF-8, or in U+1F000 to U+1FFFF, the block of emoji.
  struct Char {
    // The result of merging the bytes of the character, padded with NO_ID.
    std::array<std::uint32_t, MAX_IDS> ids;
    // A partial merge takes only part of the character on at least one side of a boundary. The
    // partial merges are divided into classes, and each bit of `to_right` and `to_left` stands
    // for one class. `to_right` has the classes that may cross the boundary after the
    // character, and `to_left` those that may cross the boundary before it. A partial merge may
    // cross if `to_right` of the left character and `to_left` of the right one share a bit.
    std::uint16_t to_right;
    std::uint16_t to_left;

    std::size_t count() const { return 1U + (ids[1] != NO_ID) + (ids[2] != NO_ID); }
  };

  // `first_step` is VocabularyData::first_step: symbols with ids from it on are only parts of
  // the bytes of a character. `token(symbol)` returns the bytes of a symbol as {bytes, size}.
  // `prefetch(symbol)` prefetches the memory that token(symbol) will read.
  template <typename Token, typename Prefetch>
  void build(const OrderedMerges &merges, std::uint32_t first_step, Token token,
             Prefetch prefetch) {
    begin_build(merges);
    if (first_step != NO_ID)
      replace_steps(first_step, merges);
    constexpr std::uint32_t AHEAD = 16; // the prefetch distance, in symbols
    for (std::uint32_t symbol = OrderedMerges::BYTES; symbol < merges.size(); ++symbol) {
      if (symbol + AHEAD < merges.size())
        prefetch(merges.parts(symbol + AHEAD).left);
      const auto both = token(symbol);
      const std::size_t left_size = token(merges.parts(symbol).left).size;
      if (is_ascii(both.bytes, both.size))
        ascii_pairs_.add(both.bytes[left_size - 1], both.bytes[left_size]);
      else
        add(both.bytes, left_size, both.bytes + left_size, both.size - left_size, symbol);
    }
    finish_build();
  }

  // Calls one(Char) for each segment of one character, and many(start, end) for each longer
  // segment, in order. `size` must not be 0.
  template <typename One, typename Many>
  void for_segments(const std::uint8_t *bytes, std::size_t size, One one, Many many) const {
    const auto flush = [&](std::size_t start, std::size_t end, std::uint32_t single) {
      if (single < NO_CHAR)
        one(chars_[single]);
      else
        many(start, end);
    };
    std::size_t start = 0;
    const DecodedChar first = char_at(bytes, size);
    std::uint32_t left = first.index;
    std::uint32_t single = left; // the only character of the segment so far
    for (std::size_t at = first.width; at < size;) {
      const auto [right, width] = char_at(bytes + at, size - at);
      if (may_merge_across(left, right)) {
        single = NO_CHAR;
      } else {
        flush(start, at, single);
        start = at;
        single = right;
      }
      left = right;
      at += width;
    }
    flush(start, size, single);
  }

  // Calls visit(at, is_barrier) for each boundary between two characters, in order.
  template <typename Visit>
  void for_boundaries(const std::uint8_t *bytes, std::size_t size, Visit visit) const {
    const DecodedChar first = char_at(bytes, size);
    std::uint32_t left = first.index;
    for (std::size_t at = first.width; at < size;) {
      // Most characters take three bytes. They have an entry, and are not ASCII.
      if (left != NO_CHAR) {
        std::uint32_t to_right = chars_[left].to_right;
        for (; size - at >= 3; at += 3) {
          const std::uint32_t right = three_bytes_at(bytes + at);
          if (right == NO_CHAR)
            break;
          visit(at, ((to_right & chars_[right].to_left) |
                     filter_.may_have(hash_of(left, right))) == 0);
          to_right = chars_[right].to_right;
          left = right;
        }
        if (at == size)
          return;
      }
      const auto [right, width] = char_at(bytes + at, size - at);
      visit(at, !may_merge_across(left, right));
      left = right;
      at += width;
    }
  }

  // Returns whether no merge crosses the boundary between the first two characters.
  bool begins_with_barrier(const std::uint8_t *bytes, std::size_t size) const {
    const DecodedChar left = char_at(bytes, size);
    const DecodedChar right = char_at(bytes + left.width, size - left.width);
    if ((left.index | right.index) < 0x80)
      return !ascii_pairs_.has(left.index, right.index);
    return !may_merge_across(left.index, right.index);
  }

  // Writes the symbols with which merging of these bytes may start. Returns the number of
  // symbols, which is at most the number of bytes. A character starts fully merged if all
  // merges that may cross its boundaries rank after the merges of its own bytes. Otherwise it
  // starts as its bytes.
  //
  // The result of merging is exact, even if the merges are not ordered. In a character that
  // starts fully merged, every merge of its own bytes ranks before every merge that may cross
  // its boundaries. So no merge crosses before the character has merged, and merging gives the
  // same result whether it starts with the merged character or with its bytes.
  std::size_t begin_merge(const std::uint8_t *bytes, std::size_t size,
                          std::uint32_t *symbols) const {
    std::uint32_t *to = symbols;
    DecodedChar here = char_at(bytes, size);
    std::uint32_t before = 0; // `to_right` of the previous character
    for (std::size_t at = 0; at < size;) {
      const std::size_t end = at + here.width;
      const DecodedChar next =
          end < size ? char_at(bytes + end, size - end) : DecodedChar{NO_CHAR, 0};
      const std::uint32_t after = end < size ? chars_[next.index].to_left : 0U;
      const MergeStart &start = merge_starts_[here.index];
      if (start.symbols[0] != OrderedMerges::NO_MERGE &&
          ((before & start.early_left) | (start.early_right & after)) == 0)
        to = std::copy_n(start.symbols.begin(), chars_[here.index].count(), to);
      else
        to = std::copy(bytes + at, bytes + end, to);
      before = chars_[here.index].to_right;
      here = next;
      at = end;
    }
    return static_cast<std::size_t>(to - symbols);
  }

  // Returns whether these bytes are one segment: they contain no barrier.
  bool is_one_segment(const std::uint8_t *bytes, std::size_t size) const {
    const DecodedChar first = char_at(bytes, size);
    std::uint32_t left = first.index;
    for (std::size_t at = first.width; at < size;) {
      const auto [right, width] = char_at(bytes + at, size - at);
      if (!may_merge_across(left, right))
        return false;
      left = right;
      at += width;
    }
    return true;
  }

private:
  friend class SegmentSplitter;

  // The symbols with which begin_merge starts a character.
  struct MergeStart {
    // Char::count() symbols. If the first is NO_MERGE, the character starts as its bytes.
    std::array<std::uint32_t, MAX_IDS> symbols;
    // The classes (see Char) of the partial merges that may cross the right or the left
    // boundary of the character, and that rank before the last merge of the character's own
    // bytes.
    std::uint16_t early_right;
    std::uint16_t early_left;
  };

  // In `chars_`, the index of a code point of up to three bytes is the code point itself. Emoji
  // follow from FIRST_EMOJI_INDEX on.
#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  // Fuzz targets build the tables for each input. Full tables would take most of the time.
  static constexpr std::uint32_t FIRST_EMOJI_INDEX = 0x2000;
#else
  static constexpr std::uint32_t FIRST_EMOJI_INDEX = 0x10000;
#endif
  // A three-byte sequence with a lead byte below END_LEAD is below FIRST_EMOJI_INDEX and is not
  // a surrogate.
  static constexpr std::uint32_t END_LEAD =
      FIRST_EMOJI_INDEX < 0xD000 ? 0xE0 | FIRST_EMOJI_INDEX >> 12 : 0xED;
  static constexpr std::uint32_t FIRST_EMOJI_CODE_POINT = 0x1F000;
  static constexpr std::uint32_t EMOJI_COUNT = 0x1000;
  // The index of characters without an entry of their own, and of bytes that are not UTF-8. Its
  // entry in `chars_` has all bits: it may merge with anything.
  static constexpr std::uint32_t NO_CHAR = FIRST_EMOJI_INDEX + EMOJI_COUNT;
  static constexpr std::uint16_t NO_CHAR_BIT = 0x8000; // a class that only NO_CHAR has

  std::uint32_t index_of(std::uint32_t code_point) const {
    if (code_point < FIRST_EMOJI_INDEX)
      return code_point - 0xD800 < 0x800 ? NO_CHAR : code_point;
    return code_point - FIRST_EMOJI_CODE_POINT < emoji_count_
               ? code_point - FIRST_EMOJI_CODE_POINT + FIRST_EMOJI_INDEX
               : NO_CHAR;
  }

  // A character as its index in `chars_`, and its width in bytes.
  struct DecodedChar {
    std::uint32_t index;
    std::uint32_t width;
  };
  // Returns the index of a character of three bytes whose lead byte begins no surrogate and no
  // overlong form. For other bytes, returns NO_CHAR. At least three bytes must be readable.
  static std::uint32_t three_bytes_at(const std::uint8_t *bytes) {
    const std::uint32_t lead = bytes[0];
    const std::uint32_t tails = bytes[1] | std::uint32_t{bytes[2]} << 8; // one load
    if (lead - 0xE1 >= END_LEAD - 0xE1 || (tails & 0xC0C0) != 0x8080)
      return NO_CHAR;
    return (lead & 0x0F) << 12 | (tails & 0x3F) << 6 | (tails >> 8 & 0x3F);
  }
  DecodedChar char_at(const std::uint8_t *bytes, std::size_t left) const {
    // Three bytes are the common case.
    if (left >= 3) {
      const std::uint32_t index = three_bytes_at(bytes);
      if (index != NO_CHAR)
        return {index, 3};
    }
    const std::uint32_t lead = bytes[0];
    if (lead < 0x80)
      return {lead, 1};
    if (lead >= 0xC2 && lead < 0xE0 && left >= 2 && is_tail(bytes[1]))
      return {(lead & 0x1F) << 6 | (bytes[1] & 0x3FU), 2};
    const Decoded decoded = decode_utf8(bytes, left);
    return {index_of(decoded.code_point), decoded.width};
  }

  bool may_merge_across(std::uint32_t left, std::uint32_t right) const {
    // Branchless: the answer is unpredictable.
    return ((chars_[left].to_right & chars_[right].to_left) |
            filter_.may_have(hash_of(left, right)) | static_cast<unsigned>(left == NO_CHAR) |
            static_cast<unsigned>(right == NO_CHAR) |
            static_cast<unsigned>((left | right) < 0x80)) != 0;
  }
  static std::uint64_t hash_of(std::uint32_t left, std::uint32_t right) {
    return hash_without_key(std::uint64_t{left} << 17 | right);
  }

  void begin_build(const OrderedMerges &merges);
  void replace_steps(std::uint32_t first_step, const OrderedMerges &merges);
  void add(const std::uint8_t *left, std::size_t left_size, const std::uint8_t *right,
           std::size_t right_size, std::uint32_t symbol);
  void finish_build();
  void add_partial(const std::uint8_t *left, std::size_t left_size, const std::uint8_t *right,
                   std::size_t right_size, std::uint32_t symbol);
  struct Mark;
  void add_mark(std::uint32_t first, std::uint32_t end, std::uint32_t stride, bool is_left,
                unsigned bit, std::uint32_t symbol);
  void set_bits(const Mark &mark);

  struct Merging { // the state of merging one character
    std::array<std::uint32_t, 4> symbols;
    std::size_t count;
    std::uint32_t last; // the highest merge so far; 0 before the first
  };
  static Merging merge_char(const std::uint8_t *bytes, std::size_t size,
                            const OrderedMerges &merges);
  // add_unmerged and add_three add the 64 characters of three bytes that begin with the bytes
  // `one` and `two`. `first` is the lowest code point of these characters. add_unmerged is for
  // characters whose bytes do not merge.
  void add_unmerged(std::uint32_t first, std::uint8_t one, std::uint8_t two,
                    const OrderedMerges &merges);
  void add_three(std::uint32_t first, std::uint8_t one, std::uint8_t two,
                 const OrderedMerges &merges);
  // Adds one character, whose result is `merged`, at `index` of chars_.
  void add_char(std::uint32_t index, const Merging &merged, std::uint16_t early_right,
                const OrderedMerges &merges);

  // The bits that set_bits will set for the characters first, first + stride, … below end.
  struct Mark {
    std::uint64_t range = 0; // the other numbers of the range as a key; 0: a free slot
    std::uint32_t first = 0;
    std::uint32_t end = 0;
    std::uint32_t stride = 1;
    bool is_left = false;
    std::uint16_t bits = 0;
    std::array<std::uint32_t, 15> symbols{}; // by bit: the lowest symbol that sets it

    bool is_free() const { return range == 0; }
  };
  OpenTable<Mark> marks_;
  // Arrays whose elements are not initialized: `begin_build` sets all elements that index_of
  // may return.
  std::unique_ptr<Char[]> chars_;              // the last is NO_CHAR
  std::unique_ptr<MergeStart[]> merge_starts_; // by the same index
  // EMOJI_COUNT, or 0 if emoji have no entries: if their first two bytes do not merge, an emoji
  // could have more than MAX_IDS ids.
  std::uint32_t emoji_count_ = 0;
  // Only while building: the highest merge of each character, and the pairs of whole characters
  // that merge.
  std::vector<std::uint32_t> last_merge_;
  std::vector<std::uint64_t> full_pairs_;
  BitFilter filter_;       // has the pairs of full_pairs_
  AsciiPairs ascii_pairs_; // the pairs that a merge joins
};

} // namespace pretok
