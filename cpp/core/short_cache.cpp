#include "short_cache.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

namespace pretok {

void ShortCache::allocate(unsigned bits) {
  static_assert(sizeof(Entry) == 32, "two entries are to fill a line");
  const std::size_t size = std::size_t{64} << bits;
  std::size_t space = size + 64;
  // Zeros from calloc are pages that are not there yet.
  void *memory = std::calloc(1, space);
  if (memory == nullptr)
    throw std::bad_alloc();
  memory_ = memory;
  entries_ = static_cast<Entry *>(std::align(64, size, memory, space));
  shift_ = 64 - bits;
  kept_ = 0;
}

ShortCache::~ShortCache() { std::free(memory_); }

void ShortCache::insert(const ShortKey &key, std::uint64_t hash, const std::uint32_t *ids,
                        std::size_t count) {
  if (count > MOST_IDS || find(key, hash) != nullptr)
    return;
  if (++kept_ > std::size_t{1} << (64 - shift_) && 64 - shift_ < most_bits_)
    grow(); // half full
  std::array<std::uint32_t, MOST_IDS> all{};
  std::copy(ids, ids + count, all.begin());
  Entry entry{key, {all[0], all[1], all[2]}, static_cast<std::uint32_t>(count)};
  Entry more{};
  more.key.low = all[3] | std::uint64_t{all[4]} << 32;
  more.key.high = MORE | std::uint64_t{all[5]} << ID_SHIFT;
  more.ids = {all[6], all[7], all[8]};
  more.count = all[9];
  keep(entry, more);
}

void ShortCache::keep(const Entry &entry, const Entry &more) {
  Entry *pair = line(entry.key.hash());
  const bool is_wide = entry.count > entry.ids.size();
  // One that has to give way here, and does not stand in the line beside its own already.
  if (!pair[1].key.is_none()) {
    const Entry *gone = is_more(pair[1]) ? pair : pair + 1;
    if (line(gone->key.hash()) == pair)
      put(beside(pair), *gone, pair[1]);
  }
  if (is_wide && !pair[0].key.is_none() && !is_more(pair[1]) &&
      line(pair[0].key.hash()) == pair)
    put(beside(pair), pair[0], Entry{});
  put(pair, entry, more);
}

// Of the two in the line the older one goes, or both.
void ShortCache::put(Entry *pair, const Entry &entry, const Entry &more) {
  if (entry.count > entry.ids.size())
    pair[1] = more;
  else
    pair[1] = is_more(pair[1]) ? Entry{} : pair[0];
  pair[0] = entry;
}

// To four times the size.
void ShortCache::grow() {
  void *const before = memory_;
  const Entry *from = entries_;
  const std::size_t lines = std::size_t{1} << (64 - shift_);
  allocate(std::min(most_bits_, 64 - shift_ + 2));
  const std::unique_ptr<void, void (*)(void *)> old(before, std::free);
  for (std::size_t line = 0; line < lines; ++line, from += 2) {
    // The older one first.
    if (!from[1].key.is_none() && !is_more(from[1]))
      keep(from[1], Entry{});
    if (!from[0].key.is_none())
      keep(from[0], from[1]);
  }
  kept_ = lines;
}

} // namespace pretok
