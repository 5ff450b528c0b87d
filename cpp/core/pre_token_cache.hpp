// What pre-tokens became last time: most of a text is made of few different ones.
//
// Small enough for the processor's own cache, of fixed size, and each place holds what came
// last: nothing to bound or to clean. A cache serves one call at a time and then goes back to
// its pool.
#pragma once

#include "token_table.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace pretok {

class PreTokenCache {
public:
  static constexpr std::size_t MOST_BYTES = 512;  // longer pre-tokens are not kept
  static constexpr std::uint32_t MOST_INLINE = 3; // more ids than this are in the store

  // What tells a pre-token from others: its bytes, or, if they are too many, their hash.
  struct Key {
    ShortBytes bytes;
    std::uint64_t hash;

    // Memory up to `limit` may be read.
    Key(const std::uint8_t *from, std::size_t size, const std::uint8_t *limit) {
      if (size <= ShortBytes::MOST) {
        bytes = ShortBytes::load(from, size, limit);
        hash = bytes.hash(size);
      } else {
        hash = hash_long(from, size);
        bytes = {hash, 0};
      }
    }
    Key() = default;
  };

  struct Entry {
    ShortBytes key;
    std::uint16_t size; // of the pre-token in bytes; 0: free
    std::uint16_t count;
    // The ids, or where in the store they are, and of which generation.
    std::array<std::uint32_t, MOST_INLINE> ids;
  };

  PreTokenCache();
  PreTokenCache(const PreTokenCache &) = delete;
  PreTokenCache &operator=(const PreTokenCache &) = delete;
  ~PreTokenCache();

  void prefetch(const Key &key) const { pretok::prefetch(entries_ + place(key)); }

  // What is kept of a pre-token, or nullptr; good until something else is kept.
  const Entry *find(const Key &key, const std::uint8_t *bytes, std::size_t size) const {
    const Entry *pair = entries_ + place(key);
    return holds(pair[0], key, bytes, size)   ? pair
           : holds(pair[1], key, bytes, size) ? pair + 1
                                              : nullptr;
  }

  // Writes the ids of `entry` to `to`, where there must be room for MOST_INLINE; returns how
  // many they are.
  std::size_t copy(const Entry &entry, std::uint32_t *to) const {
    if (entry.count <= MOST_INLINE && entry.size <= ShortBytes::MOST)
      std::memcpy(to, entry.ids.data(), sizeof entry.ids);
    else
      std::memcpy(to, store_ + entry.ids[0], entry.count * sizeof(std::uint32_t));
    return entry.count;
  }

  // Keeps what a pre-token of at most MOST_BYTES became; of the two in its place the older one
  // goes.
  void insert(const Key &key, const std::uint8_t *bytes, std::size_t size,
              const std::uint32_t *ids, std::size_t count);

private:
  static constexpr std::size_t PLACES = 1 << 19;
  static constexpr std::size_t STORE = 1 << 22;

  static std::size_t place(const Key &key) { return key.hash >> 20 & (PLACES - 2); }
  static std::size_t words_of(std::size_t bytes) { return (bytes + 3) / 4; }

  bool holds(const Entry &entry, const Key &key, const std::uint8_t *bytes,
             std::size_t size) const {
    if (entry.key.low != key.bytes.low || entry.key.high != key.bytes.high ||
        entry.size != size)
      return false;
    if (size <= ShortBytes::MOST)
      return entry.count <= MOST_INLINE || entry.ids[1] == generation_;
    return entry.ids[1] == generation_ &&
           std::memcmp(store_ + entry.ids[0] + entry.count, bytes, size) == 0;
  }

  void *memory_;
  Entry *entries_;       // pairs, each within one line of the processor's cache
  std::uint32_t *store_; // ids, and behind them the bytes, of what does not fit into an entry
  std::size_t used_ = 0;
  std::uint32_t generation_ = 1; // what the store held before it was full no longer counts
};

// Caches that are not in use. Without locks, so that a fork never finds one held.
class CachePool {
public:
  CachePool() = default;
  CachePool(const CachePool &) = delete;
  CachePool &operator=(const CachePool &) = delete;
  ~CachePool() {
    for (auto &slot : slots_)
      delete slot.load();
  }

  std::unique_ptr<PreTokenCache> take() {
    for (auto &slot : slots_)
      if (PreTokenCache *found = slot.exchange(nullptr))
        return std::unique_ptr<PreTokenCache>(found);
    return std::make_unique<PreTokenCache>();
  }

  void give_back(std::unique_ptr<PreTokenCache> cache) {
    for (auto &slot : slots_) {
      PreTokenCache *expected = nullptr;
      if (slot.compare_exchange_strong(expected, cache.get())) {
        cache.release();
        return;
      }
    }
  }

private:
  // More threads than this at a time begin with an empty cache.
  std::array<std::atomic<PreTokenCache *>, 16> slots_{};
};

// A cache for as long as this lives.
class CacheLease {
public:
  explicit CacheLease(CachePool &pool) : pool_(pool), cache_(pool.take()) {}
  CacheLease(const CacheLease &) = delete;
  CacheLease &operator=(const CacheLease &) = delete;
  ~CacheLease() { pool_.give_back(std::move(cache_)); }

  PreTokenCache &operator*() const { return *cache_; }

private:
  CachePool &pool_;
  std::unique_ptr<PreTokenCache> cache_;
};

} // namespace pretok
