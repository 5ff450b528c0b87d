#include "core/bpe/token_table.hpp"
#include "core/base/ids.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pretok {

void TokenTable::reset(std::size_t count, const HashKey &key) {
  key_ = key;
  unsigned bits = 4;
  while (std::size_t{1} << bits < 2 * count)
    ++bits;
  short_.assign(std::size_t{1} << bits, Short{});
  short_mask_ = short_.size() - 1;
  short_shift_ = 64 - bits;
  filter_.assign((short_.size() + 7) / 8, 0);
  filter_mask_ = filter_.size() - 1;
  long_.assign(16, Long{});
  long_count_ = 0;
  longest_ = 0;
  count_ = 0;
}

void TokenTable::insert(const std::uint8_t *bytes, std::size_t size, const std::uint8_t *limit,
                        std::uint32_t id) {
  if (size <= ShortKey::MAX_BYTES)
    return insert_short(ShortKey(bytes, size, limit), id);
  if (2 * (long_count_ + 1) > long_.size())
    grow_long();
  const std::uint64_t hash = hash_long(bytes, size, key_);
  Long &entry = long_[long_slot(bytes, size, hash)];
  if (entry.bytes != nullptr)
    return;
  entry = {bytes, size, hash, id};
  ++long_count_;
  ++count_;
  longest_ = std::max(longest_, size);
}

void TokenTable::insert_short(const ShortKey &key, std::uint32_t id) {
  const std::uint64_t hash = key.hash(key_);
  std::size_t at = hash >> short_shift_;
  for (; !short_[at].key.is_none(); at = (at + 1) & short_mask_)
    if (short_[at].key == key)
      return;
  short_[at] = {key, id};
  ++count_;
  filter_[hash >> 20 & filter_mask_] |= std::uint64_t{1} << (hash >> 14 & 63);
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

// Returns the slot with these bytes, or the free slot for them.
std::size_t TokenTable::long_slot(const std::uint8_t *bytes, std::size_t size,
                                  std::uint64_t hash) const {
  std::size_t at = hash & (long_.size() - 1);
  while (long_[at].bytes != nullptr && (long_[at].hash != hash || long_[at].size != size ||
                                        std::memcmp(long_[at].bytes, bytes, size) != 0))
    at = (at + 1) & (long_.size() - 1);
  return at;
}

std::uint32_t TokenTable::find_long(const std::uint8_t *bytes, std::size_t size) const {
  if (size > longest_)
    return NO_ID;
  const Long &entry = long_[long_slot(bytes, size, hash_long(bytes, size, key_))];
  return entry.bytes == nullptr ? NO_ID : entry.id;
}

} // namespace pretok
