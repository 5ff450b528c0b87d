// What pre-tokens became last time: most of a text is made of few different ones.
//
// Of fixed size at most: what is full begins anew, or what came last stays. A cache serves one
// call at a time and then goes back to its pool.
#pragma once

#include "long_cache.hpp"
#include "short_cache.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

namespace pretok {

struct PreTokenCache {
#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  // Made for each input, and full now and then.
  static constexpr unsigned WHOLE_BITS = 8;
  static constexpr unsigned UNIT_BITS = 6;
#else
  static constexpr unsigned WHOLE_BITS = 20; // 40 MB
  static constexpr unsigned UNIT_BITS = 17;  // 5 MB
#endif

  // `count`: how many there are already. What many threads have adds up, so that only one has
  // the largest, and the next half of that.
  explicit PreTokenCache(std::size_t count)
      : others(count),
        whole(WHOLE_BITS - static_cast<unsigned>(std::min<std::size_t>(count, 2))) {}

  const std::size_t others;    // that were made before
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
    const std::size_t others = made_.load();
    auto made = std::make_unique<PreTokenCache>(others);
    if (const std::size_t now = made_.fetch_add(1); now != others)
      made = std::make_unique<PreTokenCache>(now); // another thread was faster
    return made;
  }

  void give_back(std::unique_ptr<PreTokenCache> cache) {
    // Each to a place of its own, if that is free, so that the largest is taken first.
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      PreTokenCache *expected = nullptr;
      if (slots_[(cache->others + i) % slots_.size()].compare_exchange_strong(expected,
                                                                              cache.get())) {
        cache.release();
        return;
      }
    }
  }

private:
  // More threads than this at a time begin with an empty cache.
  std::array<std::atomic<PreTokenCache *>, 16> slots_{};
  std::atomic<std::size_t> made_{0}; // so far
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
