#include "core/cache/pre_token_cache.hpp"

namespace pretok {

std::unique_ptr<PreTokenCache> CachePool::take() {
  for (std::atomic<PreTokenCache *> &slot : slots_) {
    // Load first: a load is cheaper than an exchange.
    if (slot.load(std::memory_order_relaxed) == nullptr)
      continue;
    if (PreTokenCache *const cache = slot.exchange(nullptr)) {
      cache->last_epoch = epoch_.load(std::memory_order_relaxed);
      return std::unique_ptr<PreTokenCache>(cache);
    }
  }
  return make();
}

std::unique_ptr<PreTokenCache> CachePool::make() {
  std::size_t slot = 0;
  while (slot < SLOTS && (is_reserved_[slot].load() || is_reserved_[slot].exchange(true)))
    ++slot;
  try {
    auto cache = std::make_unique<PreTokenCache>(budget_, slot);
    cache->last_epoch = epoch_.load(std::memory_order_relaxed);
    budget_.add_cache();
    return cache;
  } catch (...) {
    if (slot < SLOTS)
      is_reserved_[slot].store(false);
    throw;
  }
}

// Drops the cache if another cache needs its memory, if it has no slot, or if the budget is
// exceeded. Otherwise puts the cache into its slot.
void CachePool::give_back(std::unique_ptr<PreTokenCache> cache) {
  const std::size_t slot = cache->slot;
  const bool is_stuck = cache->is_stuck();
  const bool is_too_large = budget_.is_short() && cache->held() > budget_.share();
  if (is_too_large)
    budget_.clear_short();
  cache->clear_stuck();
  if (is_too_large || slot == SLOTS || budget_.is_exceeded())
    drop(std::move(cache));
  else
    slots_[slot].store(cache.release());
  if (is_stuck)
    drop_unused();
}

void CachePool::drop(std::unique_ptr<PreTokenCache> cache) {
  const std::size_t slot = cache->slot;
  cache.reset();
  budget_.remove_cache();
  if (slot < SLOTS)
    is_reserved_[slot].store(false);
}

// Frees caches that have been idle for PATIENCE epochs. `take` prefers the first slots, so when
// fewer calls run concurrently, the caches of the last slots stay idle. They would still reduce
// the share of every cache.
void CachePool::drop_unused() {
  const std::size_t now = epoch_.fetch_add(1, std::memory_order_relaxed);
  constexpr std::size_t PATIENCE = 32;
  for (std::atomic<PreTokenCache *> &slot : slots_) {
    if (slot.load(std::memory_order_relaxed) == nullptr)
      continue;
    std::unique_ptr<PreTokenCache> cache(slot.exchange(nullptr));
    if (cache == nullptr)
      continue;
    // Since `now` was read, another thread may have taken and returned this cache, so
    // last_epoch may be greater.
    if (now > cache->last_epoch && now - cache->last_epoch > PATIENCE)
      drop(std::move(cache));
    else
      slot.store(cache.release());
  }
}

void CachePool::trim() {
  for (std::atomic<PreTokenCache *> &slot : slots_)
    if (std::unique_ptr<PreTokenCache> cache{slot.exchange(nullptr)})
      drop(std::move(cache));
}

} // namespace pretok
