// The merges of a vocabulary that is not ordered, by pair of tokens. Ordered vocabularies use
// the faster table of ordered_merges.hpp.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Larger than every rank, also as a signed number: SSE2 compares signed numbers.
inline constexpr std::uint32_t NO_RANK = 0x7FFFFFFF;

struct Merged {
  std::uint32_t rank; // NO_RANK: the pair does not merge
  std::uint32_t id;   // the id of the result
};

class PairTable {
public:
  struct Entry {
    std::uint64_t pair = FREE;
    Merged merged{NO_RANK, NO_ID};
  };

  // Empties the table and reserves room for `count` pairs. The table grows if more are
  // inserted.
  void reset(std::size_t count);

  // Inserts a pair, or replaces its rank and result.
  void insert(std::uint32_t left, std::uint32_t right, Merged merged);

  Merged find(std::uint32_t left, std::uint32_t right) const {
    const std::uint64_t pair = std::uint64_t{left} << 32 | right;
    const std::uint64_t hash = hash_words(left, right, key_);
    if ((filter_[hash >> 38 & filter_mask_] >> (hash >> 32 & 63) & 1) == 0)
      return {NO_RANK, NO_ID};
    for (std::size_t at = hash & mask_;; at = (at + 1) & mask_)
      if (entries_[at].pair == pair || entries_[at].pair == FREE)
        return entries_[at].merged;
  }

  const std::vector<Entry> &entries() const { return entries_; }
  static bool is_free(const Entry &entry) { return entry.pair == FREE; }

private:
  static constexpr std::uint64_t FREE = ~std::uint64_t{0};

  HashKey key_ = hash_key();
  std::vector<Entry> entries_;
  // A Bloom filter with one bit per pair. Most look-ups fail, and the filter fits in the
  // processor's cache.
  std::vector<std::uint64_t> filter_;
  std::size_t filter_mask_ = 0;
  std::size_t mask_ = 0;
  std::size_t count_ = 0;
};

} // namespace pretok
