// Bounds the memory of the caches of one tokenizer, over all threads together.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace pretok {

// Counts the bytes of all caches against a limit. Threads share a CacheBudget without locks.
class CacheBudget {
public:
  static constexpr std::size_t DEFAULT_LIMIT = std::size_t{128} << 20;
  // A cache in use may hold this many bytes even if the budget is exceeded.
  static constexpr std::size_t MIN_BYTES = std::size_t{256} << 10;

  explicit CacheBudget(std::size_t limit) : limit_(limit) {}

  std::size_t limit() const { return limit_; }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  bool is_exceeded() const { return used() > limit_; }

  // `caches` returns the number of caches that share the limit. `share` returns the number of
  // bytes that each cache may hold: the limit in equal parts.
  std::size_t caches() const { return caches_.load(std::memory_order_relaxed); }
  std::size_t share() const { return limit_ / std::max(caches(), std::size_t{1}); }
  void add_cache() { caches_.fetch_add(1, std::memory_order_relaxed); }
  void remove_cache() { caches_.fetch_sub(1, std::memory_order_relaxed); }

  // Charges `size` bytes. If the charge would exceed the limit, charges nothing and returns
  // false.
  bool try_charge(std::size_t size) {
    std::size_t before = used();
    do {
      if (size > limit_ || before > limit_ - size) {
        is_short_.store(true, std::memory_order_relaxed);
        return false;
      }
    } while (!used_.compare_exchange_weak(before, before + size, std::memory_order_relaxed));
    return true;
  }
  void charge(std::size_t size) { used_.fetch_add(size, std::memory_order_relaxed); }
  void release(std::size_t size) { used_.fetch_sub(size, std::memory_order_relaxed); }

  // Returns whether try_charge has failed since `clear_short`: a cache below its share wanted
  // memory that other caches hold.
  bool is_short() const { return is_short_.load(std::memory_order_relaxed); }
  void clear_short() { is_short_.store(false, std::memory_order_relaxed); }

private:
  const std::size_t limit_;
  std::atomic<std::size_t> used_{0};
  std::atomic<std::size_t> caches_{0};
  std::atomic<bool> is_short_{false};
};

// Counts the bytes that one table of a cache holds, as part of a budget. Only one thread at a
// time uses an account.
class CacheAccount {
public:
  // A table may hold weight / TOTAL_WEIGHT of the bytes of its cache. The weights of the tables
  // of a cache add up to TOTAL_WEIGHT.
  static constexpr std::size_t TOTAL_WEIGHT = 8;

  CacheAccount(CacheBudget &budget, std::size_t weight) : budget_(budget), weight_(weight) {}
  CacheAccount(const CacheAccount &) = delete;
  CacheAccount &operator=(const CacheAccount &) = delete;
  ~CacheAccount() { budget_.release(held_); }

  std::size_t held() const { return held_; }
  // Returns whether the table has failed to grow since `clear_stuck`.
  bool is_stuck() const { return is_stuck_; }
  void clear_stuck() { is_stuck_ = false; }

  // Charges `size` bytes for a block that will replace a block of `before` bytes. If it returns
  // true, the caller must replace the block and call release(before). Returns false and charges
  // nothing if the table would exceed its part of the cache's share, or if the budget would
  // exceed its limit. Up to its part of MIN_BYTES, a table may always grow.
  bool replace(std::size_t before, std::size_t size) {
    const std::size_t after = held_ - before + size;
    if (after <= part_of(CacheBudget::MIN_BYTES)) {
      budget_.charge(size);
    } else if (after > part_of(budget_.share()) || !budget_.try_charge(size)) {
      is_stuck_ = true;
      return false;
    }
    held_ += size;
    return true;
  }
  void release(std::size_t size) {
    held_ -= size;
    budget_.release(size);
  }

private:
  std::size_t part_of(std::size_t size) const { return size / TOTAL_WEIGHT * weight_; }

  CacheBudget &budget_;
  const std::size_t weight_;
  std::size_t held_ = 0;
  bool is_stuck_ = false;
};

// Returns `size` zero bytes aligned to a cache line, or nullptr if there is no memory. Large
// blocks come from the system and return to it when freed. `is_dense` says that the caller
// fills the block without gaps. allocate_block then asks for huge pages, which a block with
// gaps would waste.
void *allocate_block(std::size_t size, bool is_dense);
void free_block(void *data, std::size_t size);

// Returns the size of the block to allocate if `size` bytes are needed now, and at most
// `max_size` bytes later. On 64-bit Linux a page takes no memory before the first write to it.
// So block_size returns `max_size` for large blocks, which then grow without moving.
std::size_t block_size(std::size_t size, std::size_t max_size);

} // namespace pretok
