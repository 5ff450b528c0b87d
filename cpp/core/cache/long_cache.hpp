// The ids of pre-tokens and segments (merge_barriers.hpp) of more than 15 bytes. A hash table
// with linear probing points into a store of bytes and ids. The table and the store start
// small, and grow until the account refuses more memory (CacheAccount). If one of them is full
// and cannot grow, the cache drops all entries.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/prefetch.hpp"
#include "core/cache/cache_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

class LongCache {
public:
  static constexpr std::size_t MAX_BYTES = 512; // longer byte strings are not cached

  // If no memory is available, the cache stays empty.
  explicit LongCache(CacheAccount &account) : account_(account) {}
  LongCache(const LongCache &) = delete;
  LongCache &operator=(const LongCache &) = delete;
  ~LongCache();

  // The hash key. All functions take hashes that are computed with it.
  const HashKey &key() const { return key_; }

  // Prefetches the slot that `copy` reads first.
  void prefetch(std::uint64_t hash) const {
    if (slot_count_ != 0)
      pretok::prefetch(slots_ + first_of(hash));
  }

  // Writes the cached ids of `bytes` to `to`, but at most `room` of them. Returns the number of
  // all ids, or 0 if there is no entry.
  std::size_t copy(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash,
                   std::uint32_t *to, std::size_t room = MAX_BYTES) const {
    const Slot *const slot = find(bytes, size, hash);
    if (slot == nullptr)
      return 0;
    std::memcpy(to, store_ + slot->at, std::min<std::size_t>(slot->count, room) * sizeof *to);
    return slot->count;
  }

  // Adds an entry of `size` bytes and `count` ids. Does nothing if the cache already has the
  // bytes. `size` must be at most MAX_BYTES, and `count` at most `size`.
  void insert(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash,
              const std::uint32_t *ids, std::size_t count);

private:
  static constexpr std::size_t MIN_SLOTS = 1 << 8;
  static constexpr std::size_t MAX_SLOTS = 1 << 17;
  static constexpr std::size_t MIN_STORE_WORDS = 1
                                                 << 10; // 4-byte words; fits the largest entry
#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  static constexpr std::size_t MAX_STORE_WORDS = 1 << 11;
#else
  static constexpr std::size_t MAX_STORE_WORDS = 1 << 21; // 8 MB
#endif

  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t at = 0;   // offset in the store, in words: the ids, then the bytes
    std::uint16_t size = 0; // 0: a free slot
    std::uint16_t count = 0;
  };
  static_assert(sizeof(Slot) == 16, "no slot spans two lines of the processor's cache");

  std::size_t first_of(std::uint64_t hash) const {
    return static_cast<std::size_t>(hash) & (slot_count_ - 1);
  }

  void put(const Slot &slot);
  bool has_free_slot();
  bool grow_slots();
  bool grow_store();
  void clear();

  // Returns the slot of these bytes, or nullptr.
  const Slot *find(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash) const {
    if (slot_count_ == 0)
      return nullptr;
    for (std::size_t at = first_of(hash);; at = (at + 1) & (slot_count_ - 1)) {
      const Slot &slot = slots_[at];
      if (slot.size == 0)
        return nullptr;
      if (slot.hash == hash && slot.size == size &&
          std::memcmp(store_ + slot.at + slot.count, bytes, size) == 0)
        return &slot;
    }
  }

  HashKey key_ = hash_key();
  CacheAccount &account_;
  Slot *slots_ = nullptr;
  std::size_t slot_count_ = 0; // a power of two, or 0
  std::size_t used_slots_ = 0;
  std::uint32_t *store_ = nullptr;
  std::size_t store_size_ = 0; // in words; charged to the account
  std::size_t block_size_ = 0; // allocated bytes at `store_`, at least store_size_ words
  std::size_t store_used_ = 0;
};

} // namespace pretok
