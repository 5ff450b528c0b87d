#include "core/bpe/token_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace pretok {

void TokenTable::assign(const std::vector<std::uint32_t> &ids, const std::uint8_t *limit) {
  constexpr std::size_t BATCH_SIZE = 64; // tokens whose slots are prefetched together
  key_ = hash_key();
  slots_.reset(ids.size());
  filter_.reset(ids.size());
  longest_ = 0;
  std::array<ShortKey, BATCH_SIZE> keys;
  for (std::size_t first = 0; first < ids.size(); first += BATCH_SIZE) {
    const std::size_t count = std::min(ids.size() - first, BATCH_SIZE);
    for (std::size_t i = 0; i < count; ++i) {
      const TokenView token = tokens_[ids[first + i]];
      keys[i] = ShortKey::of_any(token.bytes, token.size, limit, key_);
      slots_.prefetch(keys[i].hash(key_));
    }
    for (std::size_t i = 0; i < count; ++i) {
      const TokenView token = tokens_[ids[first + i]];
      const std::uint64_t hash = keys[i].hash(key_);
      Slot &slot = slots_.find_or_add(hash, [&](const Slot &other) {
        return is_match(other, keys[i], token.bytes, token.size);
      });
      if (!slot.is_free())
        continue;
      slot = {keys[i], ids[first + i]};
      filter_.add(hash);
      longest_ = std::max<std::size_t>(longest_, token.size);
    }
  }
}

std::uint32_t TokenTable::find_long(const std::uint8_t *bytes, std::size_t size) const {
  if (size > longest_)
    return NO_ID;
  const ShortKey key = ShortKey::of_long(bytes, size, key_);
  return slots_
      .find(key.hash(key_), [&](const Slot &slot) { return is_match(slot, key, bytes, size); })
      .id;
}

bool TokenTable::is_match(const Slot &slot, const ShortKey &key, const std::uint8_t *bytes,
                          std::size_t size) const {
  // The key of a short token has all its bytes. The key of a long token has only a hash.
  if (!(slot.key == key) || size <= ShortKey::MAX_BYTES)
    return slot.key == key;
  const TokenView token = tokens_[slot.id];
  return token.size == size && std::memcmp(token.bytes, bytes, size) == 0;
}

} // namespace pretok
