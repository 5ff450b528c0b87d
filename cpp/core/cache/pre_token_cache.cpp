#include "core/cache/pre_token_cache.hpp"

#include <utility>

namespace pretok {

std::unique_ptr<PreTokenCache> CachePool::take() {
  for (std::atomic<PreTokenCache *> &slot : slots_) {
    // Looking first is faster than exchanging all of them.
    if (slot.load(std::memory_order_relaxed) == nullptr)
      continue;
    if (PreTokenCache *const found = slot.exchange(nullptr)) {
      found->last_turn = turn_.load(std::memory_order_relaxed);
      return std::unique_ptr<PreTokenCache>(found);
    }
  }
  return make();
}

std::unique_ptr<PreTokenCache> CachePool::make() {
  std::size_t slot = 0;
  while (slot < SLOTS && (is_reserved_[slot].load() || is_reserved_[slot].exchange(true)))
    ++slot;
  try {
    auto made = std::make_unique<PreTokenCache>(budget_, slot);
    made->last_turn = turn_.load(std::memory_order_relaxed);
    budget_.add_cache();
    return made;
  } catch (...) {
    if (slot < SLOTS)
      is_reserved_[slot].store(false);
    throw;
  }
}

void CachePool::give_back(std::unique_ptr<PreTokenCache> cache) {
  const std::size_t slot = cache->slot;
  const bool is_stuck = cache->is_stuck();
  const bool is_too_large = budget_.is_short() && cache->held() > budget_.share();
  if (is_too_large)
    budget_.settle();
  cache->settle();
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

// Takes are served from the first slots first: after fewer calls run at a time, the caches of
// the last slots are not taken any more, but make the shares of all smaller.
void CachePool::drop_unused() {
  const std::size_t now = turn_.fetch_add(1, std::memory_order_relaxed);
  constexpr std::size_t PATIENCE = 32;
  for (std::atomic<PreTokenCache *> &slot : slots_) {
    if (slot.load(std::memory_order_relaxed) == nullptr)
      continue;
    std::unique_ptr<PreTokenCache> found(slot.exchange(nullptr));
    if (found == nullptr)
      continue;
    // Another thread may have taken it since `now` was read.
    if (now > found->last_turn && now - found->last_turn > PATIENCE)
      drop(std::move(found));
    else
      slot.store(found.release());
  }
}

void CachePool::trim() {
  for (std::atomic<PreTokenCache *> &slot : slots_)
    if (std::unique_ptr<PreTokenCache> found{slot.exchange(nullptr)})
      drop(std::move(found));
}

} // namespace pretok
