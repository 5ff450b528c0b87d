// Encodes batches of pre-tokens: copies the ids of those in the cache, merges the rest, and
// adds them to the cache.
#pragma once

#include "core/base/id_buffer.hpp"
#include "core/base/instruction_set.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/cache/look_up.hpp"
#include "core/cache/pre_token_cache.hpp"
#include "core/encode/segment_encoder.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// The vocabulary must outlive it.
class BatchEncoder {
public:
  explicit BatchEncoder(const Vocabulary &vocabulary)
      : vocabulary_(vocabulary), segments_(vocabulary),
        first_split_lead_(vocabulary.barriers() != nullptr && vocabulary.all_tokens_reachable()
                              ? 0xE3
                              : 0x100) {}

  // See PreTokenBatch.
  unsigned first_split_lead() const { return first_split_lead_; }

  // Appends the ids of `batch`. Takes about 38 KB of stack: the keys, hashes and entries of 256
  // pre-tokens (8 KB), and 112 bytes for each possible miss (28 KB). Merging adds 6 KB, or 13
  // KB for a long pre-token. A thread of musl has 128 KB.
  void encode(InstructionSet instructions, const PreTokenBatch &batch, PreTokenCache &cache,
              IdBuffer &ids) const;

private:
  struct CacheMiss;

  void encode_misses(CacheMiss *misses, std::size_t miss_count, const ShortKey *keys,
                     const std::uint8_t *limit, PreTokenCache &cache) const;

  const Vocabulary &vocabulary_;
  SegmentEncoder segments_;
  // The lead bytes of U+3000 to U+9FFF begin with this byte. 0x100: no pre-token is divided
  // without a look-up.
  unsigned first_split_lead_;
};

} // namespace pretok
