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
    if (place_count_ != 0)
      pretok::prefetch(places_ + first_of(hash));
  }

  // Whether something is kept.
  bool has(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash) const {
    return find(bytes, size, hash) != nullptr;
  }

  // Writes the ids that are kept of `bytes` to `to`; returns how many, or 0.
  std::size_t copy(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash,
                   std::uint32_t *to) const {
    const Place *place = find(bytes, size, hash);
    if (place == nullptr)
      return 0;
    std::memcpy(to, store_ + place->at, place->count * sizeof *to);
    return place->count;
  }

  // `count` is at most `size`. Of the two in its place the older one goes.
  void insert(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash,
              const std::uint32_t *ids, std::size_t count);

private:
  static constexpr std::size_t FIRST_PLACES = 1 << 8;
  static constexpr std::size_t MOST_PLACES = 1 << 17;
  static constexpr std::size_t FIRST_STORE = 1 << 10; // words: more than one entry
#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  static constexpr std::size_t MOST_STORE = 1 << 11;
#else
  static constexpr std::size_t MOST_STORE = 1 << 21; // 8 MB
#endif

  struct Place {
    std::uint64_t hash = 0;
    std::uint32_t at = 0; // in the store: the ids, and behind them the bytes
    std::uint32_t generation = 0;
    std::uint16_t size = 0; // 0: free
    std::uint16_t count = 0;
  };

  std::size_t first_of(std::uint64_t hash) const { return hash % (place_count_ / 2) * 2; }

  void put(const Place &place);
  bool grow_places();
  bool grow_store();

  const Place *find(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash) const {
    if (place_count_ == 0)
      return nullptr;
    const Place *pair = places_ + first_of(hash);
    return holds(pair[0], bytes, size, hash)   ? pair
           : holds(pair[1], bytes, size, hash) ? pair + 1
                                               : nullptr;
  }
  bool holds(const Place &place, const std::uint8_t *bytes, std::size_t size,
             std::uint64_t hash) const {
    return place.hash == hash && place.size == size && place.generation == generation_ &&
           std::memcmp(store_ + place.at + place.count, bytes, size) == 0;
  }

  HashKey key_ = hash_key();
  CacheAccount &account_;
  Place *places_ = nullptr;
  std::size_t place_count_ = 0; // a power of two, or 0
  std::size_t kept_ = 0;        // since the places grew, or could not
  std::uint32_t *store_ = nullptr;
  std::size_t store_size_ = 0; // words that are paid for
  std::size_t block_size_ = 0; // bytes of the store, some of which may be addresses only
  std::size_t store_used_ = 0;
  std::uint32_t generation_ = 1; // what the store held before it was full no longer counts
};

} // namespace pretok
