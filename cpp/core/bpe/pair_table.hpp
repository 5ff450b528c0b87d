// Which two tokens merge, how early, and into what: any merges. For those in order there is
// ordered_merges.hpp.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// More than every rank, also as a signed number, which is what SSE2 compares.
inline constexpr std::uint32_t NO_RANK = 0x7FFFFFFF;

struct Merged {
  std::uint32_t rank; // NO_RANK: the two do not merge
  std::uint32_t id;   // of the result
};

class PairTable {
public:
  struct Entry {
    std::uint64_t pair = FREE;
    Merged merged{NO_RANK, NO_ID};
  };

  // Makes room for `count` pairs; what was in the table is gone. More are let in, but slower.
  void reset(std::size_t count);

  // A pair that is there already gets the new rank and result.
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
  // A bit for each hash that is in the table: most pairs are not, and this fits where memory is
  // fast.
  std::vector<std::uint64_t> filter_;
  std::size_t filter_mask_ = 0;
  std::size_t mask_ = 0;
  std::size_t count_ = 0;
};

} // namespace pretok
