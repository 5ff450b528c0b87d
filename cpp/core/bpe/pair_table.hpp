// The merges of a vocabulary that is not ordered, by pair of tokens. Ordered vocabularies use
// the faster table of ordered_merges.hpp.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/ids.hpp"
#include "core/base/open_table.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// The rank of a pair that does not merge. Larger than every rank, also as a signed number: SSE2
// compares signed numbers.
inline constexpr std::uint32_t NO_RANK = 0x7FFFFFFF;

struct Merged {
  std::uint32_t rank; // or NO_RANK
  std::uint32_t id;   // the id of the result
};

class PairTable {
public:
  struct Entry {
    std::uint64_t pair = 0;
    Merged merged{NO_RANK, NO_ID};

    bool is_free() const { return merged.rank == NO_RANK; }
    std::uint32_t left() const { return static_cast<std::uint32_t>(pair >> 32); }
    std::uint32_t right() const { return static_cast<std::uint32_t>(pair); }
  };

  // Empties the table and makes room for `count` pairs. Inserting more pairs is an error: the
  // table does not grow.
  void reset(std::size_t count);

  // Inserts a pair, or replaces its rank and result. Returns whether the pair is new.
  bool insert(std::uint32_t left, std::uint32_t right, Merged merged);

  Merged find(std::uint32_t left, std::uint32_t right) const {
    const std::uint64_t pair = std::uint64_t{left} << 32 | right;
    const std::uint64_t hash = hash_words(left, right, key_);
    if (filter_.may_have(hash) == 0)
      return {NO_RANK, NO_ID};
    return entries_.find(hash, [pair](const Entry &entry) { return entry.pair == pair; })
        .merged;
  }

  // All slots of the table, in no order. Free slots have no pair.
  const OpenTable<Entry> &entries() const { return entries_; }

private:
  HashKey key_ = hash_key();
  OpenTable<Entry> entries_;
  BitFilter filter_;
};

} // namespace pretok
