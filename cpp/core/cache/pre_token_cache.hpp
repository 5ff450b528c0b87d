// What pre-tokens became last time: most of a text is cache of few different ones.
//
// The caches of a tokenizer share one budget (cache_memory.hpp). A cache serves one call at a
// time and then goes back to its pool. It grows to its share of the budget; when it is full, it
// begins anew. More threads make the shares smaller: a cache that holds more than its share is
// dropped when its call ends, if others need the memory.
#pragma once

#include "core/cache/cache_memory.hpp"
#include "core/cache/long_cache.hpp"
#include "core/cache/short_cache.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace pretok {

struct PreTokenCache {
#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  // Made for each input, and full now and then.
  static constexpr unsigned PRE_TOKEN_BITS = 8;
  static constexpr unsigned SEGMENT_BITS = 6;
#else
  static constexpr unsigned PRE_TOKEN_BITS = 20; // 40 MB
  static constexpr unsigned SEGMENT_BITS = 17;   // 5 MB
#endif

  PreTokenCache(CacheBudget &budget, std::size_t pool_slot)
      : slot(pool_slot), short_account(budget, 5), segment_account(budget, 1),
        long_account(budget, 2) {}

  std::size_t held() const {
    return short_account.held() + segment_account.held() + long_account.held();
  }
  // Whether one of the tables could not grow since the last call of `clear_stuck`.
  bool is_stuck() const {
    return short_account.is_stuck() || segment_account.is_stuck() || long_account.is_stuck();
  }
  void clear_stuck() {
    short_account.clear_stuck();
    segment_account.clear_stuck();
    long_account.clear_stuck();
  }

  const std::size_t slot;     // its place in the pool; if it has none, CachePool::SLOTS
  std::size_t last_epoch = 0; // of the pool, when it was last taken

private:
  CacheAccount short_account; // they outlive the tables
  CacheAccount segment_account;
  CacheAccount long_account;

public:
  ShortCache short_pre_tokens{PRE_TOKEN_BITS, short_account}; // pre-tokens
  ShortCache segments{SEGMENT_BITS, segment_account}; // parts of them (merge_barriers.hpp)
  LongCache long_pre_tokens{long_account};            // longer ones of either
};

// The caches of a tokenizer. Without locks, so that a fork never finds one held.
class CachePool {
public:
  explicit CachePool(std::size_t limit = CacheBudget::DEFAULT_LIMIT) : budget_(limit) {}
  CachePool(const CachePool &) = delete;
  CachePool &operator=(const CachePool &) = delete;
  ~CachePool() { trim(); }

  const CacheBudget &budget() const { return budget_; }

  // Returns the cache of the first slot that has one, or a new one.
  std::unique_ptr<PreTokenCache> take();
  void give_back(std::unique_ptr<PreTokenCache> cache);
  // Frees all caches that are not in use.
  void trim();

private:
  // More calls than this at a time work with small caches that are not kept.
  static constexpr std::size_t SLOTS = 128;

  std::unique_ptr<PreTokenCache> make();
  void drop(std::unique_ptr<PreTokenCache> cache);
  void drop_unused();

  CacheBudget budget_;
  // A cache that is not in use is in its slot. A slot is reserved as long as its cache exists.
  std::array<std::atomic<PreTokenCache *>, SLOTS> slots_{};
  std::array<std::atomic<bool>, SLOTS> is_reserved_{};
  std::atomic<std::size_t> epoch_{0}; // grows each time that a cache could not grow
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
