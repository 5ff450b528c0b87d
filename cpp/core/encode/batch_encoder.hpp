// Batches of pre-tokens to ids: those that the cache has, and those that are merged and then
// put into it.
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

  // As PreTokenBatch has it.
  unsigned first_split_lead() const { return first_split_lead_; }

  // Appends the ids of all of `batch`.
  void encode(InstructionSet instructions, const PreTokenBatch &batch, PreTokenCache &cache,
              IdBuffer &ids) const;

private:
  struct CacheMiss;

  void encode_misses(CacheMiss *misses, std::size_t miss_count, const ShortKey *keys,
                     const std::uint8_t *limit, PreTokenCache &cache) const;

  const Vocabulary &vocabulary_;
  SegmentEncoder segments_;
  // The lead bytes of U+3000 to U+9FFF begin with this one; 0x100 if there are no units.
  unsigned first_split_lead_;
};

} // namespace pretok
