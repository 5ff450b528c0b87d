// The counts of pairs of neighboring symbols, in an open-addressed table.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/prefetch.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

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
  };

  PairCounts() : pairs_(std::size_t{1} << 12) {}

  // Prefetches the memory that `find` reads.
  void prefetch(PairKey key) const { pretok::prefetch(&pairs_[home_slot(key)]); }

  // Returns the entry of the pair, or nullptr if there is none. The pointer is valid until the
  // next find_or_add.
  Pair *find(PairKey key) {
    Pair &pair = pairs_[slot_of(key)];
    return pair.key == FREE ? nullptr : &pair;
  }

  // As find, but adds an entry with count 0 if there is none.
  Pair &find_or_add(PairKey key) {
    if (size_ * 2 >= pairs_.size())
      grow();
    Pair &pair = pairs_[slot_of(key)];
    if (pair.key == FREE) {
      pair.key = key;
      ++size_;
    }
    return pair;
  }

private:
  static constexpr PairKey FREE = static_cast<PairKey>(-1);

  std::size_t home_slot(PairKey key) const {
    return hash_words(left_of(key), right_of(key), hash_key_) & (pairs_.size() - 1);
  }

  // Returns the slot of `key`, or the free slot for it.
  std::size_t slot_of(PairKey key) const {
    std::size_t slot = home_slot(key);
    while (pairs_[slot].key != key && pairs_[slot].key != FREE)
      slot = (slot + 1) & (pairs_.size() - 1);
    return slot;
  }

  void grow() {
    const std::vector<Pair> old = std::exchange(pairs_, std::vector<Pair>(pairs_.size() * 2));
    for (const Pair &pair : old)
      if (pair.key != FREE)
        pairs_[slot_of(pair.key)] = pair;
  }

  HashKey hash_key_ = hash_key();
  std::vector<Pair> pairs_;
  std::size_t size_ = 0;
};

} // namespace pretok
