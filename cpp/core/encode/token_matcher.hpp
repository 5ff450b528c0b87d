// Leftmost-longest search for many byte strings at once, in linear time.
//
// TokenMatcher stores the patterns in a trie. Each node has two links, for the case that the
// next byte continues no pattern.
//
// `link` serves the search. A search at a node has read the bytes of that node and reported no
// match in them yet. When the next byte continues no pattern, the leftmost-longest matches
// within these bytes are known. They depend on the node alone, so the constructor computes them
// once. `last_match` is the last of them, and Match::previous leads to the others. `link` is
// the node of the bytes that remain after these matches. Each byte raises the depth of the node
// by at most one, and each link lowers it. So a search follows at most as many links as it
// reads bytes. (Song et al., Fast WordPiece Tokenization, 2021, calls the matches "failure
// pops" and the link "failure link".) For the patterns "ab", "abcd" and "ce", the node "abc"
// has the match "ab" and the link "c": on "abce" the search reports "ab", goes to "c", reads
// "e", and reports "ce".
//
// `suffix` serves clear_places, which finds positions that no match contains. It is the suffix
// link of Aho and Corasick: the node of the longest proper suffix that begins a pattern.
//
// bpe/encoding/matcher.py does the same in Python.
#pragma once

#include "core/base/bits.hpp"
#include "core/base/count_steps.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace pretok {

// A range of clear positions in a text, from `start` to `end`, both included; none if `end` is
// less than `start`. A position is a boundary between bytes. No match contains a position of
// the range, or begins or ends there, except that a match may end at `start`.
struct ClearPlaces {
  std::size_t start;
  std::size_t end;
};

class TokenMatcher {
public:
  // All patterns together must have fewer bytes than this.
  static constexpr std::size_t MAX_BYTES = std::size_t{1} << 31;

  // `patterns` are distinct, not empty, and sorted by their unsigned bytes. Takes linear time,
  // and 21 to 33 bytes of memory for each distinct prefix of the patterns. Throws
  // std::length_error for MAX_BYTES or more.
  explicit TokenMatcher(const std::vector<std::string_view> &patterns);

  // Calls visit(pattern, first, last) for each match in data[start..end), from left to right,
  // until visit returns false. `pattern` is the index of the pattern that matches
  // data[first..last). Returns false if visit returned false.
  template <typename Visit>
  bool each_match(const std::uint8_t *data, std::size_t start, std::size_t end,
                  Visit &&visit) const {
    std::uint32_t node = ROOT;
    for (std::size_t at = next(data, start, end); at < end;) {
      const std::uint32_t below = child(node, data[at]);
      if (below != ROOT) {
        node = below;
        ++at;
        continue;
      }
      if (!visit_matches(node, at, visit))
        return false;
      node = nodes_[node].link;
      if (node == ROOT)
        at = next(data, at, end);
    }
    for (; node != ROOT; node = nodes_[node].link)
      if (!visit_matches(node, end, visit))
        return false;
    return true;
  }

  // Returns the last range of clear positions within [from, to]. The result is right whatever
  // text comes after `to`. It depends only on data[from - longest()..to), or on data[0..to) if
  // `from` is less than longest(). Takes linear time.
  ClearPlaces clear_places(const std::uint8_t *data, std::size_t from, std::size_t to) const;

  // Returns the size of the longest pattern.
  std::size_t longest() const { return longest_; }

  // Returns the next position at which a pattern may begin: `at`, a later position, or `end` if
  // there is none. No pattern begins in data[at..result).
  std::size_t next(const std::uint8_t *data, std::size_t at, std::size_t end) const {
#if PRETOK_SSE2
    if (!starts_.empty())
      for (; end - at > 2 * WIDTH; at += 2 * WIDTH) {
        if (!has_first_byte(data + at))
          continue;
        for (const std::size_t from : {at, at + WIDTH})
          if (const unsigned found = find_starts(data + from))
            return from + lowest_bit(found);
      }
#else
    if (first_bytes_.size() == 1 && at < end) {
      const void *position = std::memchr(data + at, first_bytes_[0][0], end - at);
      return position == nullptr
                 ? end
                 : static_cast<std::size_t>(static_cast<const std::uint8_t *>(position) - data);
    }
#endif
    while (at < end && roots_[data[at]] == ROOT)
      ++at;
    return at;
  }

private:
  static constexpr std::uint32_t ROOT = 0;
  static constexpr std::uint32_t NO_MATCHES = 0xFFFFFFFF;

  // Nodes are sorted by depth, and the children of a node by their bytes.
  struct Node {
    std::uint32_t first_child; // the children end where those of the next node begin
    std::uint32_t depth;
    std::uint32_t link;
    std::uint32_t last_match; // in matches_, or NO_MATCHES
    std::uint32_t suffix;
  };

  // A match within the bytes of a node.
  struct Match {
    std::uint32_t pattern;
    std::uint32_t first;    // from the first byte of the node
    std::uint32_t previous; // the match before, in matches_, or NO_MATCHES
  };

  static constexpr std::size_t WIDTH = 16; // bytes of a vector
  using Repeated = std::array<std::uint8_t, WIDTH>;
  // The first two bytes of some patterns, each WIDTH times. `mask` is 0xFF if the second byte
  // is compared. It is 0 if any second byte matches: for a pattern of one byte, or if the
  // patterns have too many different starts.
  struct Start {
    Repeated first;
    Repeated second;
    Repeated mask;
  };
  // With more starts than this, comparing them takes longer than looking up each byte.
  static constexpr std::size_t MAX_STARTS = 8;

#if PRETOK_SSE2
  static __m128i load(const std::uint8_t *from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
  }
  // Returns whether any of 2 * WIDTH bytes is the first byte of a pattern.
  bool has_first_byte(const std::uint8_t *data) const {
    const __m128i low = load(data);
    const __m128i high = load(data + WIDTH);
    __m128i found = _mm_setzero_si128();
    for (const Repeated &first : first_bytes_) {
      const __m128i wanted = load(first.data());
      found = _mm_or_si128(
          found, _mm_or_si128(_mm_cmpeq_epi8(low, wanted), _mm_cmpeq_epi8(high, wanted)));
    }
    return _mm_movemask_epi8(found) != 0;
  }
  // Returns a mask of WIDTH bits: bit i says whether a pattern may begin at byte i. Reads one
  // byte more than WIDTH.
  unsigned find_starts(const std::uint8_t *data) const {
    const __m128i bytes = load(data);
    const __m128i following = load(data + 1);
    __m128i found = _mm_setzero_si128();
    for (const Start &start : starts_)
      found = _mm_or_si128(
          found, _mm_and_si128(_mm_cmpeq_epi8(bytes, load(start.first.data())),
                               _mm_cmpeq_epi8(_mm_and_si128(following, load(start.mask.data())),
                                              load(start.second.data()))));
    return static_cast<unsigned>(_mm_movemask_epi8(found));
  }
#endif

  class Builder;

  void add_starts(const std::vector<std::string_view> &patterns);

  // Returns the child by `byte`, or ROOT if there is none.
  std::uint32_t child(std::uint32_t node, std::uint8_t byte) const {
    count_step();
    if (node == ROOT)
      return roots_[byte];
    const std::uint32_t first = nodes_[node].first_child;
    const std::uint32_t count = nodes_[node + 1].first_child - first;
    if (count == 0)
      return ROOT;
    if (count == 1)
      return bytes_[first] == byte ? first : ROOT;
    const void *position = std::memchr(&bytes_[first], byte, count);
    return position == nullptr
               ? ROOT
               : first + static_cast<std::uint32_t>(
                             static_cast<const std::uint8_t *>(position) - &bytes_[first]);
  }

  // Visits the matches of a search that is at `node` and has read all bytes before data[at].
  template <typename Visit>
  bool visit_matches(std::uint32_t node, std::size_t at, Visit &visit) const {
    const std::uint32_t last = nodes_[node].last_match;
    if (last == NO_MATCHES)
      return true;
    const std::size_t start = at - nodes_[node].depth;
    const auto visit_one = [&](const Match &match) {
      const std::size_t first = start + match.first;
      return visit(match.pattern, first, first + sizes_[match.pattern]);
    };
    if (matches_[last].previous == NO_MATCHES)
      return visit_one(matches_[last]);
    const std::vector<Match> all = all_matches(last);
    return std::all_of(all.begin(), all.end(), visit_one);
  }

  // Returns the matches of the list that ends with `last`, from left to right.
  std::vector<Match> all_matches(std::uint32_t last) const;

  // The distinct starts of the patterns, and the distinct first bytes of these starts. Both are
  // empty if the patterns have more than MAX_STARTS distinct first bytes; `next` then looks up
  // each byte.
  std::vector<Start> starts_;
  std::vector<Repeated> first_bytes_;
  // The last element is a sentinel that ends the children of the last node.
  std::vector<Node> nodes_;
  std::vector<std::uint8_t> bytes_; // the byte that leads to each node from its parent
  std::vector<bool> ends_pattern_;  // per node: whether its bytes end with a pattern
  std::vector<Match> matches_;
  std::vector<std::uint32_t> sizes_;       // of the patterns
  std::array<std::uint32_t, 256> roots_{}; // the children of ROOT
  std::size_t longest_ = 0;
};

} // namespace pretok
