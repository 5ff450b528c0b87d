#include "token_table.hpp"

#include <utility>

namespace pretok {

void TokenTable::reset(std::size_t count) {
  std::size_t places = 16;
  while (places < 2 * count)
    places *= 2;
  short_.assign(places, Short{});
  short_mask_ = places - 1;
  long_.assign(16, Long{});
  long_count_ = 0;
  longest_ = 0;
}

void TokenTable::insert(const std::uint8_t *bytes, std::size_t size, std::uint32_t id) {
  if (size <= ShortBytes::MOST) {
    const ShortBytes key = ShortBytes::load(bytes, size, bytes + size);
    std::size_t at = key.hash(size) & short_mask_;
    for (; short_[at].size != 0; at = (at + 1) & short_mask_)
      if (short_[at].low == key.low && short_[at].high == key.high && short_[at].size == size)
        return;
    short_[at] = {key.low, key.high, static_cast<std::uint32_t>(size), id};
    return;
  }
  const std::uint64_t hash = hash_long(bytes, size);
  if (find_long(bytes, size, hash) != NO_ID)
    return;
  if (2 * ++long_count_ > long_.size())
    grow_long();
  if (size > longest_)
    longest_ = size;
  std::size_t at = hash & (long_.size() - 1);
  while (long_[at].bytes != nullptr)
    at = (at + 1) & (long_.size() - 1);
  long_[at] = {bytes, size, hash, id};
}

void TokenTable::grow_long() {
  std::vector<Long> larger(long_.size() * 2);
  for (const Long &entry : long_) {
    if (entry.bytes == nullptr)
      continue;
    std::size_t at = entry.hash & (larger.size() - 1);
    while (larger[at].bytes != nullptr)
      at = (at + 1) & (larger.size() - 1);
    larger[at] = entry;
  }
  long_ = std::move(larger);
}

std::uint32_t TokenTable::find_long(const std::uint8_t *bytes, std::size_t size,
                                    std::uint64_t hash) const {
  if (size > longest_)
    return NO_ID;
  for (std::size_t at = hash & (long_.size() - 1);; at = (at + 1) & (long_.size() - 1)) {
    const Long &entry = long_[at];
    if (entry.bytes == nullptr)
      return NO_ID;
    if (entry.hash == hash && entry.size == size && std::memcmp(entry.bytes, bytes, size) == 0)
      return entry.id;
  }
}

} // namespace pretok
