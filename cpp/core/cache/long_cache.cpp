#include "core/cache/long_cache.hpp"

#include <utility>

namespace pretok {

LongCache::~LongCache() {
  if (slot_count_ != 0)
    free_block(slots_, slot_count_ * sizeof *slots_);
  if (block_size_ != 0)
    free_block(store_, block_size_);
}

void LongCache::insert(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash,
                       const std::uint32_t *ids, std::size_t count) {
  if (find(bytes, size, hash) != nullptr || !has_free_slot())
    return;
  const std::size_t words = count + (size + 3) / 4;
  if (store_size_ - store_used_ < words && !grow_store()) {
    if (store_size_ == 0)
      return;
    clear();
  }
  const std::size_t at = store_used_;
  store_used_ += words;
  std::memcpy(store_ + at, ids, count * sizeof *ids);
  std::memcpy(store_ + at + count, bytes, size);
  ++used_slots_;
  put({hash, static_cast<std::uint32_t>(at), static_cast<std::uint16_t>(size),
       static_cast<std::uint16_t>(count)});
}

// Makes the table larger if half of its slots are in use. If it cannot grow, three quarters
// may be in use; then drops all entries. Returns false if there is no memory for a table.
bool LongCache::has_free_slot() {
  if (used_slots_ < slot_count_ / 2 || grow_slots())
    return true;
  if (used_slots_ >= slot_count_ / 4 * 3)
    clear();
  return slot_count_ != 0;
}

void LongCache::put(const Slot &slot) {
  std::size_t at = first_of(slot.hash);
  while (slots_[at].size != 0)
    at = (at + 1) & (slot_count_ - 1);
  slots_[at] = slot;
}

void LongCache::clear() {
  std::fill_n(slots_, slot_count_, Slot());
  used_slots_ = store_used_ = 0;
}

bool LongCache::grow_slots() {
  const std::size_t count = std::clamp(slot_count_ * 4, MIN_SLOTS, MAX_SLOTS);
  if (count == slot_count_ ||
      !account_.replace(slot_count_ * sizeof *slots_, count * sizeof *slots_))
    return false;
  void *const larger = allocate_block(count * sizeof *slots_, false);
  if (larger == nullptr) {
    account_.release(count * sizeof *slots_);
    return false;
  }
  Slot *const before = std::exchange(slots_, static_cast<Slot *>(larger));
  const std::size_t count_before = std::exchange(slot_count_, count);
  for (std::size_t at = 0; at < count_before; ++at)
    if (before[at].size != 0)
      put(before[at]);
  if (count_before != 0)
    free_block(before, count_before * sizeof *before);
  account_.release(count_before * sizeof *before);
  return true;
}

bool LongCache::grow_store() {
  constexpr std::size_t WORD = sizeof *store_;
  std::size_t size = 0;
  for (std::size_t factor = 8;; factor /= 2) { // if the account refuses: 4, then 2
    if (factor < 2)
      return false;
    size = std::clamp(store_size_ * factor, MIN_STORE_WORDS, MAX_STORE_WORDS);
    if (size == store_size_)
      return false;
    if (account_.replace(store_size_ * WORD, size * WORD))
      break;
  }
  if (size > block_size_ / WORD) {
    const std::size_t block = block_size(size * WORD, MAX_STORE_WORDS * WORD);
    void *const larger = allocate_block(block, true);
    if (larger == nullptr) {
      account_.release(size * WORD);
      return false;
    }
    if (block_size_ != 0) {
      std::memcpy(larger, store_, store_used_ * WORD);
      free_block(store_, block_size_);
    }
    store_ = static_cast<std::uint32_t *>(larger);
    block_size_ = block;
  }
  account_.release(store_size_ * WORD);
  store_size_ = size;
  return true;
}

} // namespace pretok
