// Encodes long pre-tokens, and pre-tokens that merge barriers divide into segments. A barrier
// is a boundary between characters that no merge can cross (merge_barriers.hpp).
#pragma once

#include "core/base/short_key.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/cache/pre_token_cache.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// The vocabulary must outlive the SegmentEncoder.
class SegmentEncoder {
public:
  explicit SegmentEncoder(const Vocabulary &vocabulary) : vocabulary_(vocabulary) {}

  // Returns whether no barrier divides the bytes.
  bool is_one_segment(const std::uint8_t *bytes, std::size_t size) const;

  // encode_long and encode_segments write ids to `to`, and return the number of ids. `to` has
  // room for one id per byte and ShortCache::PADDING more. encode_long is for more than
  // ShortKey::MAX_BYTES bytes; `hash` is their hash_long with the key of cache.long_pre_tokens.
  // encode_long looks up or merges all of these bytes together. If a barrier divides them,
  // encode_segments is faster: it looks up or merges each segment by itself.
  std::size_t encode_long(const std::uint8_t *bytes, std::size_t size, std::uint64_t hash,
                          PreTokenCache &cache, std::uint32_t *to) const;
  std::size_t encode_segments(const std::uint8_t *bytes, std::size_t size,
                              const std::uint8_t *limit, PreTokenCache &cache,
                              std::uint32_t *to) const;

private:
  std::size_t encode_segment(const std::uint8_t *bytes, std::size_t size,
                             const std::uint8_t *limit, PreTokenCache &cache,
                             std::uint32_t *to) const;

  const Vocabulary &vocabulary_;
};

} // namespace pretok
