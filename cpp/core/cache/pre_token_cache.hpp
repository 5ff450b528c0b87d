// The ids of pre-tokens seen before. Most pre-tokens of a text are repetitions of a few
// distinct pre-tokens.
//
// The caches of a tokenizer share one budget (cache_memory.hpp). Each call takes a cache from
// the pool, and gives it back when the call ends. A cache grows to its share of the budget, and
// is emptied when full. More concurrent calls make the shares smaller. A cache above its share
// is freed when its call ends, if another cache needs the memory.
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
  // Fuzz targets make caches for each input and fill them.
  static constexpr unsigned PRE_TOKEN_BITS = 8;
  static constexpr unsigned SEGMENT_BITS = 6;
#else
  static constexpr unsigned PRE_TOKEN_BITS = 20; // at most 2^20 entries: 40 MB
  static constexpr unsigned SEGMENT_BITS = 17;   // at most 2^17 entries: 5 MB
#endif

  PreTokenCache(CacheBudget &budget, std::size_t pool_slot)
      : slot(pool_slot), short_account(budget, 5), segment_account(budget, 1),
        long_account(budget, 2) {}

  std::size_t held() const {
    return short_account.held() + segment_account.held() + long_account.held();
  }
  // Returns whether a table has failed to grow since `clear_stuck`.
  bool is_stuck() const {
    return short_account.is_stuck() || segment_account.is_stuck() || long_account.is_stuck();
  }
  void clear_stuck() {
    short_account.clear_stuck();
    segment_account.clear_stuck();
    long_account.clear_stuck();
  }

  const std::size_t slot;     // its slot in the pool; CachePool::SLOTS if it has none
  std::size_t last_epoch = 0; // the pool's epoch when this cache was last taken

private:
  // Declared before the tables, so that the accounts outlive them.
  CacheAccount short_account;
  CacheAccount segment_account;
  CacheAccount long_account;

public:
  // Segments are parts of pre-tokens (merge_barriers.hpp). `long_pre_tokens` has pre-tokens and
  // segments that are too long for a ShortCache.
  ShortCache short_pre_tokens{PRE_TOKEN_BITS, short_account};
  ShortCache segments{SEGMENT_BITS, segment_account};
  LongCache long_pre_tokens{long_account};
};

// The caches of a tokenizer. Lock-free, so that a fork never inherits a held lock.
class CachePool {
public:
  explicit CachePool(std::size_t limit = CacheBudget::DEFAULT_LIMIT) : budget_(limit) {}
  CachePool(const CachePool &) = delete;
  CachePool &operator=(const CachePool &) = delete;
  ~CachePool() { trim(); }

  const CacheBudget &budget() const { return budget_; }

  // Returns the cache of the first slot that has an idle one, or a new cache.
  std::unique_ptr<PreTokenCache> take();
  void give_back(std::unique_ptr<PreTokenCache> cache);
  // Frees all caches that are not in use.
  void trim();

private:
  // The maximum number of caches in the pool. If more calls run at the same time, the other
  // calls use temporary caches.
  static constexpr std::size_t SLOTS = 128;

  std::unique_ptr<PreTokenCache> make();
  void drop(std::unique_ptr<PreTokenCache> cache);
  void drop_unused();

  CacheBudget budget_;
  // An idle cache is in its slot. A slot is reserved while its cache exists.
  std::array<std::atomic<PreTokenCache *>, SLOTS> slots_{};
  std::array<std::atomic<bool>, SLOTS> is_reserved_{};
  // Counts the times that a cache comes back to the pool after it failed to grow. A cache that
  // stays idle for many epochs is freed, so that the others may grow (CachePool::drop_unused).
  std::atomic<std::size_t> epoch_{0};
};

// Takes a cache from a pool and gives it back when destroyed.
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
