// The merges of an ordered vocabulary, in a cuckoo table that fits in the processor's cache.
//
// A vocabulary is ordered if each token that merging makes has exactly one merge, and this
// merge ranks after the merges that make its two parts. Trained vocabularies are ordered. In an
// ordered vocabulary a rank can stand for the token that its merge makes: a symbol is a byte (0
// to 255), or 256 + the rank of a merge. Merging applies ranks in ascending order, so the
// number of a symbol also says when its merge is applied. This number is called the time of the
// symbol. A part of a token exists from the part's own time until the token's time.
//
// A few tokens of some vocabularies (81 of Llama 3's) are made of parts with higher ranks. In
// such a vocabulary a symbol is still a rank, but not a time. find() and merging the lowest
// rank (short_merge.hpp) are still exact, but is_valid_pair and for_boundary_pairs are not.
//
// The table holds one 64-bit entry per merge:
//
//   63          43 42         22 21          0
//  +--------------+-------------+-------------+
//  |  left (21)   |  right (21) | result (22) |
//  +--------------+-------------+-------------+
//
// The key of a look-up has the left and right symbol, and result 0. The XOR of the key and the
// matching entry is the entry's result, which is below 2^21. The XOR with any other entry has a
// bit above bit 21, so it is larger than NO_MERGE = 2^22 - 1. The minimum of NO_MERGE and all
// XORs is therefore the answer, without a branch. A free slot is all ones. The XOR of a free
// slot with the key of two sentinels (NO_SYMBOL) is NO_MERGE; its XOR with any other key is
// larger. No entry has a sentinel, so a sentinel never merges.
//
// A bucket has two slots. Each pair of symbols has two buckets, bucket_a and bucket_b. If the
// table has the pair, it is in one of the four slots of these buckets.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/prefetch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

class OrderedMerges {
public:
  static constexpr std::uint32_t BYTES = 256;
  static constexpr unsigned SYMBOL_BITS = 21;
  // The result of a failed look-up. Larger than every symbol.
  static constexpr std::uint32_t NO_MERGE = (1U << (SYMBOL_BITS + 1)) - 1;
  static constexpr std::uint32_t MAX_SYMBOLS = (1U << SYMBOL_BITS) - 1;
  // A sentinel beside the ends of a pre-token. It merges with nothing.
  static constexpr std::uint32_t NO_SYMBOL = MAX_SYMBOLS;

  struct Parts {
    std::uint32_t left;
    std::uint32_t right;
  };

  // Empties the table, takes the current hash key of the process, and reserves room for about
  // `count` merges. byte_ids[b] is the id of byte b.
  void reset(const std::array<std::uint32_t, 256> &byte_ids, std::size_t count);

  // Adds the merge with the next rank: `left` and `right` make the token `id`. In an ordered
  // vocabulary, is_valid_pair(left, right) must be true with the merges added so far. Returns
  // the new symbol. Returns NO_MERGE if there are too many symbols, or if no hash key finds a
  // slot for the entry.
  std::uint32_t add(std::uint32_t left, std::uint32_t right, std::uint32_t id);

  // Removes all symbols from `end` on. `end` must be at least BYTES.
  void remove_from(std::uint32_t end);

  // Returns the symbol that two symbols merge into, or NO_MERGE. Branchless: the outcome is
  // unpredictable.
  std::uint32_t find(std::uint32_t left, std::uint32_t right) const {
    return find(buckets_of(left, right));
  }

  // `find` in two steps, so that the caller can prefetch the buckets in between.
  struct Buckets {
    std::uint64_t key;
    const std::uint64_t *bucket_a;
    const std::uint64_t *bucket_b;
  };
  Buckets buckets_of(std::uint32_t left, std::uint32_t right) const {
    const std::uint64_t key = key_of(left, right);
    const std::uint64_t hash = hash_pair(left, right, key_);
    return {key, entries_.data() + index_a(hash), entries_.data() + index_b(hash)};
  }
  static void prefetch(const Buckets &buckets) {
    pretok::prefetch(buckets.bucket_a);
    pretok::prefetch(buckets.bucket_b);
  }
  static std::uint32_t find(const Buckets &buckets) {
    // Only the matching entry leaves a value below NO_MERGE.
    const std::uint64_t in_a =
        least(buckets.bucket_a[0] ^ buckets.key, buckets.bucket_a[1] ^ buckets.key);
    const std::uint64_t in_b =
        least(buckets.bucket_b[0] ^ buckets.key, buckets.bucket_b[1] ^ buckets.key);
    return static_cast<std::uint32_t>(least(least(in_a, in_b), NO_MERGE));
  }

  // Prefetches the memory that `find` will read.
  void prefetch(std::uint32_t left, std::uint32_t right) const {
    const std::uint64_t hash = hash_pair(left, right, key_);
    pretok::prefetch(&entries_[index_a(hash)]);
    pretok::prefetch(&entries_[index_b(hash)]);
  }

  // Like `find`, for two bytes.
  std::uint32_t of_bytes(std::uint8_t left, std::uint8_t right) const {
    return of_bytes_[byte_pairs_[std::size_t{left} << 8 | right]];
  }

  std::uint32_t id(std::uint32_t symbol) const {
    return symbol >= BYTES && ids_are_symbols_ ? symbol : ids_[symbol];
  }
  // Replaces `count` symbols by their ids. Branchless: it is unpredictable which symbols are
  // bytes.
  void replace_by_ids(std::uint32_t *symbols, std::size_t count) const {
    const std::uint32_t *const ids = ids_.data();
    if (!ids_are_symbols_) {
      for (std::size_t i = 0; i < count; ++i)
        symbols[i] = ids[symbols[i]];
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t symbol = symbols[i];
      const std::uint32_t id_of_byte = ids[symbol % BYTES];
      symbols[i] = symbol < BYTES ? id_of_byte : symbol;
    }
  }
  void prefetch_id(std::uint32_t symbol) const {
    if (!ids_are_symbols_)
      pretok::prefetch(&ids_[symbol]);
  }
  // Returns the number of slots of the table.
  std::size_t slots() const { return entries_.size(); }
  // Returns the number of symbols: the 256 bytes and the merges.
  std::uint32_t size() const { return static_cast<std::uint32_t>(ids_.size()); }
  // `symbol` must not be a byte.
  Parts parts(std::uint32_t symbol) const { return parts_[symbol - BYTES]; }

  // Returns whether the bytes of `left` and `right`, side by side, merge into exactly these two
  // symbols: whether no merge crosses the boundary between them. Takes time in proportion to
  // the number of pairs that for_boundary_pairs visits.
  bool is_valid_pair(std::uint32_t left, std::uint32_t right) const {
    return find(left, right) == NO_MERGE && stay_apart(left, right);
  }

  // Returns whether the bytes of `left` and `right`, side by side, merge into these two symbols
  // before a merge crosses the boundary between them. Exact in any vocabulary if each symbol
  // that `left` and `right` are made of ranks after its parts.
  bool stay_apart(std::uint32_t left, std::uint32_t right) const {
    bool apart = true;
    for_boundary_pairs(left, right,
                       [&](std::uint32_t a, std::uint32_t b, std::uint32_t deadline) {
                         return apart = find(a, b) >= deadline;
                       });
    return apart;
  }

  // Visits the pairs of symbols that were neighbors at the boundary between `left` and `right`
  // before these two symbols were made, from the latest pair to the earliest. Each step undoes
  // one of the two merges that made `left` and `right`: the later merge. Calls visit(left,
  // right, deadline) for each pair, until visit returns false. `left` and `right` are a valid
  // pair if they do not merge themselves, and no visited pair merges before its deadline, that
  // is, by a merge that ranks below the deadline.
  //
  // The deadline is the time at which one symbol of the pair becomes part of a longer symbol.
  // Merges with equal ranks are applied from left to right. So the merge that makes `left` is
  // applied before a merge of equal rank across the boundary, and the deadline is `left`. The
  // merge that makes `right` is applied after a merge of equal rank across the boundary, and
  // the deadline is `right` + 1.
  template <typename Visit>
  void for_boundary_pairs(std::uint32_t left, std::uint32_t right, Visit visit) const {
    for (;;) {
      std::uint32_t deadline;
      if (left > right && left >= BYTES) {
        deadline = left;
        left = parts(left).right;
      } else if (right >= BYTES) {
        deadline = right + 1;
        right = parts(right).left;
      } else {
        return;
      }
      if (!visit(left, right, deadline))
        return;
    }
  }

private:
  static constexpr std::uint64_t FREE = ~std::uint64_t{0};

  static std::uint64_t key_of(std::uint32_t left, std::uint32_t right) {
    return (std::uint64_t{left} << SYMBOL_BITS | right) << (SYMBOL_BITS + 1);
  }
  std::uint64_t hash_of(std::uint64_t entry) const {
    constexpr std::uint64_t LOW = (std::uint64_t{1} << SYMBOL_BITS) - 1;
    return hash_pair(static_cast<std::uint32_t>(entry >> (2 * SYMBOL_BITS + 1)),
                     static_cast<std::uint32_t>(entry >> (SYMBOL_BITS + 1) & LOW), key_);
  }
  static std::uint64_t least(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

  // The first slots of the two buckets of a pair.
  std::size_t index_a(std::uint64_t hash) const { return (hash >> shift_) * 2; }
  std::size_t index_b(std::uint64_t hash) const { return (hash >> 20 & mask_) * 2; }

  bool make_room(unsigned bits);
  bool fill();
  bool insert(std::uint64_t entry);

  HashKey key_ = hash_key();
  std::vector<std::uint64_t> entries_; // the slots; the layout is above
  unsigned shift_ = 63;
  std::uint64_t mask_ = 1;
  std::vector<Parts> parts_;
  std::vector<std::uint32_t> ids_; // by symbol
  bool ids_are_symbols_ = true;    // whether id == symbol for every merge, which is common
  // Maps a pair of bytes to the index of its symbol in `of_bytes_`; 0: no merge.
  std::vector<std::uint16_t> byte_pairs_;
  std::vector<std::uint32_t> of_bytes_;
};

} // namespace pretok
