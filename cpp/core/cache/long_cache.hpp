// What became of more than 15 bytes: two places for each hash, and the bytes and ids in a
// store. Both begin small and grow as far as the account allows. A store that is full and
// cannot grow is begun anew.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/prefetch.hpp"
#include "core/cache/cache_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

class LongCache {
public:
  static constexpr std::size_t MAX_BYTES = 512; // of more bytes, nothing is kept

  // Without memory it keeps nothing.
  explicit LongCache(CacheAccount &account) : account_(account) {}
  LongCache(const LongCache &) = delete;
  LongCache &operator=(const LongCache &) = delete;
  ~LongCache();

  // The key of the hashes that all functions are given.
  const HashKey &key() const { return key_; }

  // Asks for the memory that is looked at first.
  void prefetch(std::uint64_t hash) const {
    if (slot_count_ != 0)
      pretok::prefetch(slots_ + bucket_of(hash));
  }

  // Whether something is kept.
  bool has(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash) const {
    return find(bytes, size, hash) != nullptr;
  }

  // Writes the ids that are kept of `bytes` to `to`; returns how many, or 0.
  std::size_t copy(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash,
                   std::uint32_t *to) const {
    const Slot *slot = find(bytes, size, hash);
    if (slot == nullptr)
      return 0;
    std::memcpy(to, store_ + slot->at, slot->count * sizeof *to);
    return slot->count;
  }

  // `count` is at most `size`. Of the two in its slot the older one goes.
  void insert(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash,
              const std::uint32_t *ids, std::size_t count);

private:
  static constexpr std::size_t MIN_SLOTS = 1 << 8;
  static constexpr std::size_t MAX_SLOTS = 1 << 17;
  static constexpr std::size_t MIN_STORE_WORDS = 1 << 10; // words: more than one entry
#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  static constexpr std::size_t MAX_STORE_WORDS = 1 << 11;
#else
  static constexpr std::size_t MAX_STORE_WORDS = 1 << 21; // 8 MB
#endif

  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t at = 0; // in the store: the ids, and behind them the bytes
    std::uint32_t generation = 0;
    std::uint16_t size = 0; // 0: free
    std::uint16_t count = 0;
  };

  std::size_t bucket_of(std::uint64_t hash) const { return hash % (slot_count_ / 2) * 2; }

  void put(const Slot &slot);
  bool grow_slots();
  bool grow_store();

  const Slot *find(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash) const {
    if (slot_count_ == 0)
      return nullptr;
    const Slot *pair = slots_ + bucket_of(hash);
    return holds(pair[0], bytes, size, hash)   ? pair
           : holds(pair[1], bytes, size, hash) ? pair + 1
                                               : nullptr;
  }
  bool holds(const Slot &slot, const std::uint8_t *bytes, std::size_t size,
             std::uint64_t hash) const {
    return slot.hash == hash && slot.size == size && slot.generation == generation_ &&
           std::memcmp(store_ + slot.at + slot.count, bytes, size) == 0;
  }

  HashKey key_ = hash_key();
  CacheAccount &account_;
  Slot *slots_ = nullptr;
  std::size_t slot_count_ = 0; // a power of two, or 0
  std::size_t used_slots_ = 0; // since the places grew, or could not
  std::uint32_t *store_ = nullptr;
  std::size_t store_size_ = 0; // words that are paid for
  std::size_t block_size_ = 0; // bytes of the store, some of which may be addresses only
  std::size_t store_used_ = 0;
  std::uint32_t generation_ = 1; // what the store held before it was full no longer counts
};

} // namespace pretok
