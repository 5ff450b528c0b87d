#include "short_cache.hpp"

#include <cstdlib>
#include <memory>
#include <new>

namespace pretok {
ShortCache::ShortCache(unsigned most_bits, const HashKey &key)
    : key_(key), most_bits_(most_bits) {
  static_assert(sizeof(Entry) == 32, "two entries are to fill a line");
  allocate(FIRST_SLOTS);
  try {
    // What nothing was written to is only addresses.
    entries_ = HugePages<Entry>().allocate(std::size_t{1} << most_bits);
  } catch (...) {
    std::free(slot_memory_);
    throw;
  }
  entries_[0] = Entry{ShortKey::none(), 0, {}};
  used_ = 1;
}

ShortCache::~ShortCache() {
  std::free(slot_memory_);
  HugePages<Entry>().deallocate(entries_, std::size_t{1} << most_bits_);
}

void ShortCache::allocate(std::size_t count) {
  const std::size_t size = sizeof *slots_ * count;
  std::size_t space = size + 64;
  void *const memory = std::calloc(1, space);
  if (memory == nullptr)
    throw std::bad_alloc();
  slot_memory_ = memory;
  void *aligned = memory; // where a line of the processor's cache begins
  slots_ = static_cast<std::uint32_t *>(std::align(64, size, aligned, space));
  bucket_mask_ = count - BUCKET;
}

const ShortCache::Entry *ShortCache::find_in_line(const ShortKey &key,
                                                  std::uint64_t hash) const {
  const std::size_t home = static_cast<std::size_t>(bucket(hash) - slots_);
  const std::uint32_t tag = tag_of(hash);
  for (std::size_t i = 0; i < LINE; ++i) {
    const std::uint32_t found = slots_[home ^ i] ^ tag;
    if (found < MOST && entries_[found].key == key)
      return entries_ + found;
  }
  return nullptr;
}

void ShortCache::insert(const ShortKey &key, std::uint64_t hash, const std::uint32_t *ids,
                        std::size_t count) {
  if (count > MOST_IDS || find(key, hash) != nullptr)
    return;
  if ((1U << most_bits_) - used_ < places(count))
    clear();
  if (++kept_ > slot_count() / 2)
    grow();
  const std::uint32_t place = used_;
  used_ += places(count);
  Entry &entry = entries_[place];
  entry.key = key;
  entry.count = static_cast<std::uint32_t>(count);
  std::memcpy(const_cast<unsigned char *>(ids_of(entry)), ids, count * sizeof *ids);
  put(hash, place);
}

// In a full line one gives way.
void ShortCache::put(std::uint64_t hash, std::uint32_t place) {
  const std::size_t home = static_cast<std::size_t>(bucket(hash) - slots_);
  std::size_t slot = home + place % BUCKET;
  for (std::size_t i = 0; i < LINE; ++i)
    if (slots_[home ^ i] == 0) {
      slot = home ^ i;
      break;
    }
  slots_[slot] = tag_of(hash) | place;
}

// To twice the slots.
void ShortCache::grow() {
  void *const before = slot_memory_;
  allocate(2 * slot_count());
  std::free(before);
  // In the order in which they came: what is early is mostly frequent, and gets its own bucket.
  constexpr std::size_t AHEAD = 16;
  std::array<std::uint64_t, AHEAD> hashes;
  std::array<std::uint32_t, AHEAD> places_ahead;
  std::size_t count = 0;
  const auto put_all = [&] {
    for (std::size_t i = 0; i < count; ++i)
      put(hashes[i], places_ahead[i]);
    count = 0;
  };
  for (std::uint32_t place = 1; place < used_; place += places(entries_[place].count)) {
    places_ahead[count] = place;
    hashes[count] = entries_[place].key.hash(key_);
    prefetch(hashes[count]);
    if (++count == AHEAD)
      put_all();
  }
  put_all();
}

void ShortCache::clear() {
  std::fill_n(slots_, slot_count(), 0U);
  used_ = 1;
  kept_ = 0;
}

} // namespace pretok
