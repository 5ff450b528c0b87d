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
#include <cstdlib>
#include <memory>
#include <new>

namespace pretok {

class PreTokenCache {
public:
  static constexpr std::uint32_t MOST_IDS = 3;

  // A pre-token of at most ShortBytes::MOST bytes and its ids.
  struct alignas(32) Entry {
    std::uint64_t low;
    std::uint64_t high;
    std::uint16_t size; // of the pre-token in bytes; 0: free
    std::uint16_t count;
    std::array<std::uint32_t, MOST_IDS> ids;

    bool holds(const ShortBytes &key, std::size_t bytes) const {
      return low == key.low && high == key.high && size == bytes;
    }
  };

  PreTokenCache() : memory_(std::calloc(PLACES + 1, sizeof(Entry))) {
    if (memory_ == nullptr)
      throw std::bad_alloc();
    std::size_t space = (PLACES + 1) * sizeof(Entry);
    void *aligned = memory_;
    std::align(alignof(Entry), PLACES * sizeof(Entry), aligned, space);
    entries_ = static_cast<Entry *>(aligned);
  }
  PreTokenCache(const PreTokenCache &) = delete;
  PreTokenCache &operator=(const PreTokenCache &) = delete;
  ~PreTokenCache() { std::free(memory_); }

  Entry &place(std::uint64_t hash) { return entries_[hash >> 20 & (PLACES - 1)]; }

private:
  static constexpr std::size_t PLACES = 1 << 18;
  void *memory_;
  Entry *entries_;
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
