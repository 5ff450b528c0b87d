#include "core/encode/segment_encoder.hpp"

#include <cstring>

namespace pretok {

bool SegmentEncoder::is_one_segment(const std::uint8_t *bytes, std::size_t size) const {
  const MergeBarriers *const barriers = vocabulary_.barriers();
  return barriers == nullptr || is_ascii(bytes, size) || barriers->is_one_segment(bytes, size);
}

std::size_t SegmentEncoder::encode_long(const std::uint8_t *bytes, std::size_t size,
                                        std::uint64_t hash, PreTokenCache &cache,
                                        std::uint32_t *to) const {
  std::size_t count = cache.long_pre_tokens.copy(bytes, size, hash, to);
  if (count != 0)
    return count;
  count = vocabulary_.merge(bytes, size, to);
  // A long pre-token without ids is rare (CharacterMerge drops characters), so it is not
  // stored.
  if (count != 0 && size <= LongCache::MAX_BYTES)
    cache.long_pre_tokens.insert(bytes, size, hash, to, count);
  return count;
}

std::size_t SegmentEncoder::encode_segments(const std::uint8_t *bytes, std::size_t size,
                                            const std::uint8_t *limit, PreTokenCache &cache,
                                            std::uint32_t *to) const {
  std::uint32_t *const first = to;
  const auto one = [&to](const MergeBarriers::Char &character) {
    // Always copies MAX_IDS ids: a copy of fixed size is faster. `to` has room for them.
    std::memcpy(to, character.ids.data(), sizeof character.ids);
    to += character.count();
  };
  const auto many = [&](std::size_t start, std::size_t end) {
    to += encode_segment(bytes + start, end - start, limit, cache, to);
  };
  vocabulary_.barriers()->for_segments(bytes, size, one, many);
  return static_cast<std::size_t>(to - first);
}

// Copies the ids of one segment from a cache, or merges the segment. Does not look for a whole
// token: the ids of a segment always come from merging.
std::size_t SegmentEncoder::encode_segment(const std::uint8_t *bytes, std::size_t size,
                                           const std::uint8_t *limit, PreTokenCache &cache,
                                           std::uint32_t *to) const {
  if (size <= ShortKey::MAX_BYTES) {
    const ShortKey key(bytes, size, limit);
    const std::uint64_t hash = key.hash(cache.segments.key());
    if (const ShortCache::Entry *entry = cache.segments.find(key, hash))
      return ShortCache::copy(*entry, to);
    const std::size_t count = vocabulary_.merge(bytes, size, to);
    cache.segments.insert(key, hash, to, count);
    return count;
  }
  return encode_long(bytes, size, hash_long(bytes, size, cache.long_pre_tokens.key()), cache,
                     to);
}

} // namespace pretok
