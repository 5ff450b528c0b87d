// The memory of the caches of one tokenizer: one bound for the caches of all threads together.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace pretok {

// Counts the bytes of all caches against a limit. Shared between threads, without locks.
class CacheBudget {
public:
  static constexpr std::size_t DEFAULT_LIMIT = std::size_t{128} << 20;
  // A cache in use may hold this much even if the budget is spent.
  static constexpr std::size_t MIN_BYTES = std::size_t{256} << 10;

  explicit CacheBudget(std::size_t limit) : limit_(limit) {}

  std::size_t limit() const { return limit_; }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  bool is_exceeded() const { return used() > limit_; }

  // How many caches share the limit, and how much each may hold.
  std::size_t caches() const { return caches_.load(std::memory_order_relaxed); }
  std::size_t share() const { return limit_ / std::max(caches(), std::size_t{1}); }
  void add_cache() { caches_.fetch_add(1, std::memory_order_relaxed); }
  void remove_cache() { caches_.fetch_sub(1, std::memory_order_relaxed); }

  // Charges `size` bytes; if they exceed the limit, charges nothing and returns false.
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

  // Whether a cache below its share could not grow since the last call of `settle`.
  bool is_short() const { return is_short_.load(std::memory_order_relaxed); }
  void clear_short() { is_short_.store(false, std::memory_order_relaxed); }

private:
  const std::size_t limit_;
  std::atomic<std::size_t> used_{0};
  std::atomic<std::size_t> caches_{0};
  std::atomic<bool> is_short_{false};
};

// What one table of a cache holds of a budget. It belongs to one thread at a time.
class CacheAccount {
public:
  // All tables of a cache together weigh TOTAL_WEIGHT: `weight` of these is the part of this
  // one.
  static constexpr std::size_t TOTAL_WEIGHT = 8;

  CacheAccount(CacheBudget &budget, std::size_t weight) : budget_(budget), weight_(weight) {}
  CacheAccount(const CacheAccount &) = delete;
  CacheAccount &operator=(const CacheAccount &) = delete;
  ~CacheAccount() { budget_.release(held_); }

  std::size_t held() const { return held_; }
  // Whether the table could not grow since the last call of `settle`.
  bool is_stuck() const { return is_stuck_; }
  void clear_stuck() { is_stuck_ = false; }

  // Charges `size` bytes that will replace `before` bytes, and returns true; the caller
  // releases the block that it frees. If it is too much, charges nothing and returns false.
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

// Returns memory of `size` bytes that is all 0 and begins at a line of the processor's cache,
// or nullptr. A large block comes from the system, and goes back to it when it is freed. It has
// huge pages only where the system gives them unasked, or if `is_dense`: if it is filled
// without gaps.
void *allocate_block(std::size_t size, bool is_dense);
void free_block(void *data, std::size_t size);

// Returns how large a block to allocate where `size` bytes are needed now, and at max_size
// `max_size` later: memory that nothing was written to is only addresses, if there are enough
// of those, so that the block need not move when it grows.
std::size_t block_size(std::size_t size, std::size_t max_size);

} // namespace pretok
