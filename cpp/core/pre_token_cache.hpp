// What pre-tokens became last time: most of a text is made of few different ones.
//
// Of fixed size at most: what is full begins anew, or what came last stays. A cache serves one
// call at a time and then goes back to its pool.
#pragma once

#include "long_cache.hpp"
#include "short_cache.hpp"

#include <array>
#include <atomic>
#include <memory>

namespace pretok {

struct PreTokenCache {
  static constexpr unsigned WHOLE_BITS = 20; // 40 MB
  static constexpr unsigned UNIT_BITS = 17;  // 5 MB

  // `is_first`: what many threads have adds up, so that only one has the largest.
  explicit PreTokenCache(bool is_first) : whole(is_first ? WHOLE_BITS : WHOLE_BITS - 2) {}

  ShortCache whole;            // pre-tokens
  ShortCache units{UNIT_BITS}; // parts of them (char_joints.hpp)
  LongCache longs;             // longer ones of either
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
    // Only one that is made counts: memory may run out.
    const bool is_first = !any_.load();
    auto made = std::make_unique<PreTokenCache>(is_first);
    if (is_first && any_.exchange(true))
      made = std::make_unique<PreTokenCache>(false); // another thread was faster
    return made;
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
  std::atomic<bool> any_{false}; // whether there ever was one
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
