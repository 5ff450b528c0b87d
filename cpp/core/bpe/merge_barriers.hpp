// Where in a pre-token of other than ASCII no merge can reach across.
//
// A merge that reaches across the boundary between two characters joins a symbol that ends
// there with one that begins there: each is part of the one character, or has it at its end (or
// start). So the merges of a vocabulary tell which characters may be joined. Most neighbours in
// Chinese, for one, may not: such a pre-token falls into units, mostly single characters, that
// are merged by themselves, or looked up. So do emoji that are made of several. A unit of bytes
// that are no UTF-8, or of characters that there is no table for, is never cut off from its
// neighbours.
#pragma once

#include "core/base/ids.hpp"
#include "core/bpe/ordered_merges.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

class MergeBarriers {
public:
  static constexpr std::size_t MAX_IDS = 3;

  // A character of up to three bytes, or one of U+1F000 to U+1FFFF, where the emoji are.
  struct Char {
    std::array<std::uint32_t, MAX_IDS> ids; // that its bytes come to, then NO_ID
    // Joints with part of a character on one side at least: each kind is a bit, and there may
    // be one where the left character and the right one have a bit in common.
    std::uint16_t to_right;
    std::uint16_t to_left;

    std::size_t count() const { return 1U + (ids[1] != NO_ID) + (ids[2] != NO_ID); }
  };

  // `token(symbol)` gives the bytes of a symbol as {bytes, size}.
  template <typename Token> void build(const OrderedMerges &merges, Token token) {
    begin_build(merges);
    for (std::uint32_t symbol = OrderedMerges::BYTES; symbol < merges.size(); ++symbol) {
      const auto both = token(symbol);
      if (is_ascii(both.bytes, both.size))
        continue; // neighbours in ASCII are always joined
      const std::size_t left_size = token(merges.parts(symbol).left).size;
      add(both.bytes, left_size, both.bytes + left_size, both.size - left_size, symbol);
    }
    finish_build();
  }

  // Calls one(Char) for each unit that is one character, and many(start, end) for each other
  // one, in order, with its place in `bytes`. There is at least one byte.
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
    std::uint32_t single = left; // the unit's only character so far
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

  // Writes the symbols to begin a merge of these bytes with, at most one a byte, and
  // returns how many. A character that no merge joins in part before its own bytes have merged
  // can begin as what they merge into; of others there are the bytes. For think of the
  // first merge that reaches across one of its two boundaries: until then its own bytes have
  // merged as they do by themselves, so that what is merged there is all of it, or a part that
  // is not yet merged.
  std::size_t begin_merge(const std::uint8_t *bytes, std::size_t size,
                          std::uint32_t *symbols) const {
    std::uint32_t *to = symbols;
    DecodedChar here = char_at(bytes, size);
    std::uint32_t before = 0; // how the character before may be joined in part
    for (std::size_t at = 0; at < size;) {
      const std::size_t end = at + here.width;
      const DecodedChar next =
          end < size ? char_at(bytes + end, size - end) : DecodedChar{NO_CHAR, 0};
      const std::uint32_t behind = end < size ? chars_[next.index].to_left : 0U;
      const MergeStart &start = merge_starts_[here.index];
      if (start.symbols[0] != OrderedMerges::NO_MERGE &&
          ((before & start.early_left) | (start.early_right & behind)) == 0)
        to = std::copy_n(start.symbols.begin(), chars_[here.index].count(), to);
      else
        to = std::copy(bytes + at, bytes + end, to);
      before = chars_[here.index].to_right;
      here = next;
      at = end;
    }
    return static_cast<std::size_t>(to - symbols);
  }

  // Whether these bytes are one unit.
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
  // What a character can begin a merge as.
  struct MergeStart {
    std::array<std::uint32_t, MAX_IDS> symbols{OrderedMerges::NO_MERGE}; // as many as its ids
    // The kinds of joints that would come before its own bytes have merged.
    std::uint16_t early_right = 0;
    std::uint16_t early_left = 0;
  };

  // Characters are known by their places in `chars_`: those of up to three bytes by their code
  // points, and the emoji behind them.
#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  // The tables are made for each input: those of further characters would take most of the
  // time.
  static constexpr std::uint32_t FIRST_EMOJI_INDEX = 0x5000;
#else
  static constexpr std::uint32_t FIRST_EMOJI_INDEX = 0x10000;
#endif
  // Three bytes that begin with a lead below this are no surrogate, and below
  // FIRST_EMOJI_INDEX.
  static constexpr std::uint32_t END_LEAD =
      FIRST_EMOJI_INDEX < 0xD000 ? 0xE0 | FIRST_EMOJI_INDEX >> 12 : 0xED;
  static constexpr std::uint32_t FIRST_EMOJI_CODE_POINT = 0x1F000;
  static constexpr std::uint32_t EMOJI_COUNT = 0x1000;
  // Stands for what is no such character; has a place, too, where it may be joined with
  // anything.
  static constexpr std::uint32_t NO_CHAR = FIRST_EMOJI_INDEX + EMOJI_COUNT;
  static constexpr std::uint16_t NO_CHAR_BIT = 0x8000; // a joint that only that has

  std::uint32_t index_of(std::uint32_t code_point) const {
    if (code_point < FIRST_EMOJI_INDEX)
      return code_point - 0xD800 < 0x800 ? NO_CHAR : code_point;
    return code_point - FIRST_EMOJI_CODE_POINT < emoji_count_
               ? code_point - FIRST_EMOJI_CODE_POINT + FIRST_EMOJI_INDEX
               : NO_CHAR;
  }

  // A character of `bytes`, of which there are `left`, by its place in `chars_`.
  struct DecodedChar {
    std::uint32_t index;
    std::uint32_t width;
  };
  DecodedChar char_at(const std::uint8_t *bytes, std::size_t left) const {
    // Most are of three bytes, and none with these leads is a surrogate or too long.
    const std::uint32_t lead = bytes[0];
    if (lead > 0xE0 && lead < END_LEAD && left >= 3 && (bytes[1] & 0xC0) == 0x80 &&
        (bytes[2] & 0xC0) == 0x80)
      return {(lead & 0x0F) << 12 | (bytes[1] & 0x3FU) << 6 | (bytes[2] & 0x3FU), 3};
    if (lead < 0x80)
      return {lead, 1};
    if (lead >= 0xC2 && lead < 0xE0 && left >= 2 && (bytes[1] & 0xC0) == 0x80)
      return {(lead & 0x1F) << 6 | (bytes[1] & 0x3FU), 2};
    const Decoded decoded = decode_utf8(bytes, left);
    return {index_of(decoded.code_point), decoded.width};
  }

  bool may_merge_across(std::uint32_t left, std::uint32_t right) const {
    const std::uint64_t hash = hash_of(left, right);
    return (chars_[left].to_right & chars_[right].to_left) != 0 ||
           (filter_[hash >> 38 & filter_mask_] >> (hash >> 32 & 63) & 1) != 0 ||
           left == NO_CHAR || right == NO_CHAR || (left | right) < 0x80;
  }
  static std::uint64_t hash_of(std::uint32_t left, std::uint32_t right) {
    const std::uint64_t product = (std::uint64_t{left} << 17 | right) * 0x9E3779B97F4A7C15;
    return product ^ product >> 29;
  }

  void begin_build(const OrderedMerges &merges);
  void add(const std::uint8_t *left, std::size_t left_size, const std::uint8_t *right,
           std::size_t right_size, std::uint32_t symbol);
  void finish_build();
  void add_partial(const std::uint8_t *left, std::size_t left_size, const std::uint8_t *right,
                   std::size_t right_size, std::uint32_t symbol);

  struct Merging { // a character while its bytes are merged
    std::array<std::uint32_t, 4> symbols;
    std::size_t count;
    std::uint32_t last; // of the merges; 0 before the first
  };
  static Merging merge_char(const std::uint8_t *bytes, std::size_t size,
                            const OrderedMerges &merges);
  void add_unmerged(std::uint32_t first, std::uint8_t one, std::uint8_t two,
                    const OrderedMerges &merges);
  void add_three(std::uint32_t first, std::uint8_t one, std::uint8_t two,
                 const OrderedMerges &merges);
  void add_char(std::uint32_t index, const Merging &merged, std::uint16_t early_right,
                const OrderedMerges &merges);

  std::vector<Char> chars_;              // and one for NO_CHAR
  std::vector<MergeStart> merge_starts_; // the same
  // 0 where the first two bytes of emoji do not merge: they might have more than MAX_IDS.
  std::uint32_t emoji_count_ = 0;
  std::vector<std::uint32_t> last_merge_; // of the merges of each character, while building
  std::vector<std::uint64_t> full_pairs_; // joints between whole characters, while building
  std::vector<std::uint64_t> filter_;     // a bit for the hash of each of them
  std::size_t filter_mask_ = 0;
};

} // namespace pretok
