#include "core/encode/unit_encoder.hpp"

#include "core/base/ids.hpp"

#include <cstring>

namespace pretok {

bool UnitEncoder::is_one_unit(const std::uint8_t *bytes, std::size_t size) const {
  const CharJoints *const joints = vocabulary_.joints();
  return joints == nullptr || is_ascii(bytes, size) || joints->is_one_unit(bytes, size);
}

// A pre-token of more than ShortKey::MAX_BYTES bytes.
std::size_t UnitEncoder::encode_long(const std::uint8_t *bytes, std::size_t size,
                                     std::uint64_t hash, const std::uint8_t *limit,
                                     PreTokenCache &cache, std::uint32_t *to) const {
  if (!vocabulary_.merging_makes_all()) {
    *to = vocabulary_.whole().find(bytes, size, limit);
    if (*to != NO_ID)
      return 1;
  }
  const std::size_t count = cache.longs.copy(bytes, size, hash, to);
  if (count != 0)
    return count;
  if (is_one_unit(bytes, size))
    return merge_long_unit(bytes, size, hash, cache, to);
  return encode_units(bytes, size, limit, cache, to);
}

std::size_t UnitEncoder::encode_units(const std::uint8_t *bytes, std::size_t size,
                                      const std::uint8_t *limit, PreTokenCache &cache,
                                      std::uint32_t *to) const {
  std::uint32_t *const first = to;
  const auto one = [&to](const CharJoints::Char &character) {
    std::memcpy(to, character.ids.data(), sizeof character.ids);
    to += character.count();
  };
  const auto many = [&](std::size_t start, std::size_t end) {
    to += encode_unit(bytes + start, end - start, limit, cache, to);
  };
  vocabulary_.joints()->for_units(bytes, size, one, many);
  return static_cast<std::size_t>(to - first);
}

// Merges; what is a token as a whole does not matter here.
std::size_t UnitEncoder::encode_unit(const std::uint8_t *bytes, std::size_t size,
                                     const std::uint8_t *limit, PreTokenCache &cache,
                                     std::uint32_t *to) const {
  if (size <= ShortKey::MAX_BYTES) {
    const ShortKey key(bytes, size, limit);
    const std::uint64_t hash = key.hash(cache.units.key());
    if (const ShortCache::Entry *kept = cache.units.find(key, hash))
      return ShortCache::copy(*kept, to);
    const std::size_t count = vocabulary_.merge(bytes, size, to);
    cache.units.insert(key, hash, to, count);
    return count;
  }
  const std::uint64_t hash = hash_long(bytes, size, cache.longs.key());
  const std::size_t count = cache.longs.copy(bytes, size, hash, to);
  return count != 0 ? count : merge_long_unit(bytes, size, hash, cache, to);
}

std::size_t UnitEncoder::merge_long_unit(const std::uint8_t *bytes, std::size_t size,
                                         std::uint64_t hash, PreTokenCache &cache,
                                         std::uint32_t *to) const {
  const std::size_t count = vocabulary_.merge(bytes, size, to);
  if (size <= LongCache::MAX_BYTES)
    cache.longs.insert(bytes, size, hash, to, count);
  return count;
}

} // namespace pretok
