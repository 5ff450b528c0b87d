#include "core/cache/short_cache.hpp"

namespace pretok {
namespace {

// The slots and entry 0 of a cache that has not allocated memory.
alignas(64) constexpr std::array<std::uint32_t, 16> NO_SLOTS{};
constexpr ShortCache::Entry NO_ENTRY{};

} // namespace

ShortCache::ShortCache(unsigned max_bits, CacheAccount &account, const HashKey &key)
    : key_(key), account_(account), max_entries_(1U << max_bits),
      bucket_mask_(NO_SLOTS.size() - BUCKET_SLOTS),
      slots_(const_cast<std::uint32_t *>(NO_SLOTS.data())),
      entries_(const_cast<Entry *>(&NO_ENTRY)) {
  static_assert(sizeof(Entry) == 32, "two entries fill a line of the processor's cache");
  static_assert(NO_SLOTS.size() == LINE_SLOTS, "scan_line reads a line");
}

ShortCache::~ShortCache() {
  free_slots();
  free_entries();
}

void ShortCache::free_slots() {
  if (capacity_ != 0)
    free_block(slots_, slot_bytes(capacity_));
}

void ShortCache::free_entries() {
  if (block_size_ != 0)
    free_block(entries_, block_size_);
}

// Searches all slots of the line. `home ^ i` visits the slots of the bucket first, then the
// other slots.
const ShortCache::Entry *ShortCache::scan_line(const ShortKey &key, std::uint64_t hash) const {
  const std::size_t home = static_cast<std::size_t>(bucket(hash) - slots_);
  const std::uint32_t tag = tag_of(hash);
  for (std::size_t i = 0; i < LINE_SLOTS; ++i) {
    // A slot with another tag leaves a value of at least MAX_ENTRIES.
    const std::uint32_t index = slots_[home ^ i] ^ tag;
    if (index < MAX_ENTRIES && entries_[index].key == key)
      return entries_ + index;
  }
  return nullptr;
}

void ShortCache::insert(const ShortKey &key, std::uint64_t hash, const std::uint32_t *ids,
                        std::size_t count) {
  if (count > MAX_IDS || find(key, hash) != nullptr)
    return;
  if (used_ + entry_span(count) > capacity_ && !grow()) {
    if (capacity_ == 0)
      return;
    clear();
  }
  const std::uint32_t index = used_;
  used_ += entry_span(count);
  Entry &entry = entries_[index];
  entry.key = key;
  entry.count = static_cast<std::uint32_t>(count);
  std::memcpy(ids_of(entry), ids, count * sizeof *ids);
  put(hash, index);
}

// Stores `index` in a slot of the line. If the line is full, evicts one slot.
void ShortCache::put(std::uint64_t hash, std::uint32_t index) {
  const std::size_t home = static_cast<std::size_t>(bucket(hash) - slots_);
  std::size_t slot = home + index % BUCKET_SLOTS; // evicted if no slot is free
  for (std::size_t i = 0; i < LINE_SLOTS; ++i)
    if (slots_[home ^ i] == 0) {
      slot = home ^ i;
      break;
    }
  slots_[slot] = tag_of(hash) | index;
}

// Returns whether the cache grew. A small cache grows by a factor of 4, since each step costs
// page faults and a copy. If the account refuses this much memory, `grow` tries a factor of 2.
// A large cache always grows by a factor of 2.
bool ShortCache::grow() {
  const std::size_t before = entry_bytes(capacity_) + slot_bytes(capacity_);
  std::uint32_t capacity = 0;
  std::size_t size = 0;
  for (std::uint32_t factor = capacity_ < MIN_HUGE_ENTRIES ? 4 : 2;; factor /= 2) {
    if (factor < 2)
      return false;
    capacity = std::min(capacity_ == 0 ? MIN_ENTRIES : factor * capacity_, max_entries_);
    size = entry_bytes(capacity) + slot_bytes(capacity);
    if (capacity == capacity_)
      return false;
    if (account_.replace(before, size))
      break;
  }
  void *entries = entries_;
  std::size_t block = block_size_;
  if (entry_bytes(capacity) > block) {
    block = block_size(entry_bytes(capacity), entry_bytes(max_entries_));
    entries = allocate_block(block, true);
  }
  void *const slots = entries != nullptr ? allocate_block(slot_bytes(capacity), true) : nullptr;
  if (slots == nullptr) {
    if (entries != nullptr && entries != entries_)
      free_block(entries, block);
    account_.release(size);
    return false;
  }
  free_slots();
  if (entries != entries_) {
    std::memcpy(entries, entries_, entry_bytes(used_));
    free_entries();
  }
  account_.release(before);
  entries_ = static_cast<Entry *>(entries);
  slots_ = static_cast<std::uint32_t *>(slots);
  capacity_ = capacity;
  block_size_ = block;
  bucket_mask_ = slot_bytes(capacity) / sizeof *slots_ - BUCKET_SLOTS;
  put_all();
  return true;
}

// Fills the slots in the order in which the entries were inserted. So early keys, which are
// mostly frequent, get slots in their own bucket.
void ShortCache::put_all() {
  constexpr std::size_t BATCH_SIZE = 16; // entries whose slots are prefetched together
  std::array<std::uint64_t, BATCH_SIZE> hashes;
  std::array<std::uint32_t, BATCH_SIZE> indices;
  std::size_t count = 0;
  const auto put_some = [&] {
    for (std::size_t i = 0; i < count; ++i)
      put(hashes[i], indices[i]);
    count = 0;
  };
  for (std::uint32_t index = 1; index < used_; index += entry_span(entries_[index].count)) {
    indices[count] = index;
    hashes[count] = entries_[index].key.hash(key_);
    prefetch(hashes[count]);
    if (++count == BATCH_SIZE)
      put_some();
  }
  put_some();
}

void ShortCache::clear() {
  std::fill_n(slots_, slot_count(), 0U);
  used_ = 1;
}

} // namespace pretok
