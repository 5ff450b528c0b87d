// The merges of a vocabulary in order, in tables that fit where memory is fast.
//
// In order means: each token that merging can make has one merge that makes it, ranked behind
// those that make its two parts. Trained vocabularies are so. Then a rank can stand for the
// token that its merge makes: a symbol is a byte, 0 to 255, or 256 + the place of a merge.
// Merging applies ranks in ascending order, so that a rank is a time as well: a part of a token
// is there from its own time until the token's.
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
  // No symbol: more than each of them, which are below MAX_SYMBOLS.
  static constexpr std::uint32_t NO_MERGE = (1U << (SYMBOL_BITS + 1)) - 1;
  static constexpr std::uint32_t MAX_SYMBOLS = (1U << SYMBOL_BITS) - 1;
  // Merges with nothing.
  static constexpr std::uint32_t NO_SYMBOL = MAX_SYMBOLS;

  struct Parts {
    std::uint32_t left;
    std::uint32_t right;
  };

  // Begins with the ids of the bytes and makes room for about `count` merges, with a fresh
  // table.
  void reset(const std::array<std::uint32_t, 256> &byte_ids, std::size_t count);

  // Enters the next merge, that of two symbols that stay apart until now, which makes the token
  // with this id; returns the symbol, or NO_MERGE if there are too many, or
  // the table has no place for it.
  std::uint32_t add(std::uint32_t left, std::uint32_t right, std::uint32_t id);

  // What two symbols merge into, or NO_MERGE. Without branches, which no processor could
  // foretell.
  std::uint32_t find(std::uint32_t left, std::uint32_t right) const {
    return find(buckets_of(left, right));
  }

  // The same in two steps: where two symbols are looked for, to be asked for early, and what is
  // found there.
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
    // Only the right entry leaves no more than a symbol.
    const std::uint64_t in_a =
        least(buckets.bucket_a[0] ^ buckets.key, buckets.bucket_a[1] ^ buckets.key);
    const std::uint64_t in_b =
        least(buckets.bucket_b[0] ^ buckets.key, buckets.bucket_b[1] ^ buckets.key);
    return static_cast<std::uint32_t>(least(least(in_a, in_b), NO_MERGE));
  }

  // Asks for the memory that find will look at.
  void prefetch(std::uint32_t left, std::uint32_t right) const {
    const std::uint64_t hash = hash_pair(left, right, key_);
    pretok::prefetch(&entries_[index_a(hash)]);
    pretok::prefetch(&entries_[index_b(hash)]);
  }

  // As find, for two bytes.
  std::uint32_t of_bytes(std::uint8_t left, std::uint8_t right) const {
    return of_bytes_[byte_pairs_[std::size_t{left} << 8 | right]];
  }

  std::uint32_t id(std::uint32_t symbol) const {
    return symbol >= BYTES && ids_are_symbols_ ? symbol : ids_[symbol];
  }
  // How many merges the table has slots for.
  std::size_t slots() const { return entries_.size(); }
  // Bytes and merges.
  std::uint32_t size() const { return static_cast<std::uint32_t>(ids_.size()); }
  // `symbol` must not be a byte.
  Parts parts(std::uint32_t symbol) const { return parts_[symbol - BYTES]; }

  // Whether the bytes of these two merge into these two: then and only then no merge crosses
  // the boundary between them. O(depth of the two).
  bool is_valid_pair(std::uint32_t left, std::uint32_t right) const {
    if (find(left, right) != NO_MERGE)
      return false;
    bool apart = true;
    for_boundary_pairs(left, right,
                       [&](std::uint32_t a, std::uint32_t b, std::uint32_t deadline) {
                         return apart = find(a, b) >= deadline;
                       });
    return apart;
  }

  // Goes back in time from two symbols side by side, taking the later one apart, and calls
  // visit(left, right, deadline) for each two that must have met before, until that returns
  // false: the two stay apart if none of these merge before `until`, which is when one of them
  // is gone. Of equal ranks the leftmost merges first, so that a merge across comes before an
  // equal one on its right, and behind an equal one on its left.
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

  // The two buckets, each of two entries, of which one has the pair if the table has it.
  std::size_t index_a(std::uint64_t hash) const { return (hash >> shift_) * 2; }
  std::size_t index_b(std::uint64_t hash) const { return (hash >> 20 & mask_) * 2; }

  bool make_room(unsigned bits);
  bool fill();
  bool insert(std::uint64_t entry);

  HashKey key_ = hash_key();
  std::vector<std::uint64_t> entries_; // left, right, what they merge into
  unsigned shift_ = 63;
  std::uint64_t mask_ = 1;
  std::vector<Parts> parts_;
  std::vector<std::uint32_t> ids_; // by symbol
  bool ids_are_symbols_ = true;    // of merges: ids are often numbered like that
  // For each pair of bytes where in `of_bytes_` its symbol is.
  std::vector<std::uint16_t> byte_pairs_;
  std::vector<std::uint32_t> of_bytes_;
};

} // namespace pretok
