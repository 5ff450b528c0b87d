#include "pre_token_cache.hpp"

#include <cstdlib>
#include <new>

namespace pretok {

PreTokenCache::PreTokenCache() {
  static_assert(sizeof(Entry) == 32, "two entries are to fill a line");
  // Zeros from calloc are pages that are not there yet.
  const std::size_t table = (PLACES + 2) * sizeof(Entry);
  std::size_t space = table;
  memory_ = std::calloc(1, table);
  store_ = static_cast<std::uint32_t *>(std::calloc(STORE, sizeof(std::uint32_t)));
  if (memory_ == nullptr || store_ == nullptr) {
    std::free(memory_);
    std::free(store_);
    throw std::bad_alloc();
  }
  void *aligned = memory_;
  std::align(2 * sizeof(Entry), PLACES * sizeof(Entry), aligned, space);
  entries_ = static_cast<Entry *>(aligned);
}

PreTokenCache::~PreTokenCache() {
  std::free(memory_);
  std::free(store_);
}

void PreTokenCache::insert(const Key &key, const std::uint8_t *bytes, std::size_t size,
                           const std::uint32_t *ids, std::size_t count) {
  Entry entry{
      key.bytes, static_cast<std::uint16_t>(size), static_cast<std::uint16_t>(count), {}};
  if (size <= ShortBytes::MOST && count <= MOST_INLINE) {
    std::memcpy(entry.ids.data(), ids, count * sizeof *ids);
  } else {
    // A long one is in the store, however few ids it has.
    const std::size_t needed = count + words_of(size);
    if (STORE - used_ < needed) {
      used_ = 0;
      ++generation_;
    }
    entry.ids = {static_cast<std::uint32_t>(used_), generation_, 0};
    std::memcpy(store_ + used_, ids, count * sizeof *ids);
    std::memcpy(store_ + used_ + count, bytes, size);
    used_ += needed;
  }
  Entry *pair = entries_ + place(key);
  pair[1] = pair[0];
  pair[0] = entry;
}

} // namespace pretok
