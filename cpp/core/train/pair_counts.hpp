// The counts of pairs of neighboring symbols.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/open_table.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace pretok {

// Two neighboring symbols, left and right. Keys compare by the left symbol, then by the right.
using PairKey = std::uint64_t;

inline PairKey pair_key(std::uint32_t left, std::uint32_t right) {
  return PairKey{left} << 32 | right;
}
inline std::uint32_t left_of(PairKey key) { return static_cast<std::uint32_t>(key >> 32); }
inline std::uint32_t right_of(PairKey key) { return static_cast<std::uint32_t>(key); }

class PairCounts {
public:
  static constexpr std::uint32_t NO_BUCKET = static_cast<std::uint32_t>(-1);

  struct Pair {
    PairKey key = FREE;
    std::int64_t count = 0;
    std::uint32_t bucket = NO_BUCKET; // index of the latest Trainer::Bucket of the pair

    bool is_free() const { return key == FREE; }
  };

  // Prefetches the memory that `find` reads.
  void prefetch(PairKey key) const { pairs_.prefetch(hash_of(key)); }

  // Returns the entry of the pair, or nullptr if there is none. The pointer is valid until the
  // next find_or_add.
  Pair *find(PairKey key) { return const_cast<Pair *>(std::as_const(*this).find(key)); }
  const Pair *find(PairKey key) const {
    const Pair &pair = pairs_.find(hash_of(key), [key](const Pair &p) { return p.key == key; });
    return pair.is_free() ? nullptr : &pair;
  }

  // Like `find`, but adds an entry with count 0 if the pair has no entry.
  Pair &find_or_add(PairKey key) {
    pairs_.make_room([this](const Pair &p) { return hash_of(p.key); });
    Pair &pair =
        pairs_.find_or_add(hash_of(key), [key](const Pair &p) { return p.key == key; });
    pair.key = key;
    return pair;
  }

private:
  static constexpr PairKey FREE = static_cast<PairKey>(-1);

  std::uint64_t hash_of(PairKey key) const {
    return hash_words(left_of(key), right_of(key), hash_key_);
  }

  HashKey hash_key_ = hash_key();
  OpenTable<Pair> pairs_{std::size_t{1} << 11};
};

} // namespace pretok
