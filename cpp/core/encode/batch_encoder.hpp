// Encodes batches of pre-tokens: copies the ids of cache hits, merges the misses, and adds the
// misses to the cache.
#pragma once

#include "core/base/id_buffer.hpp"
#include "core/base/instruction_set.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/cache/look_up.hpp"
#include "core/cache/pre_token_cache.hpp"
#include "core/encode/segment_encoder.hpp"

namespace pretok {

// The vocabulary must outlive the BatchEncoder.
class BatchEncoder {
public:
  // If `takes_segments`, the pre-tokens of batches are segments already: parts of a text
  // between merge barriers (merge_barriers.hpp).
  BatchEncoder(const Vocabulary &vocabulary, bool takes_segments)
      : vocabulary_(vocabulary), segment_encoder_(vocabulary), takes_segments_(takes_segments) {
  }

  // Appends the ids of `batch`. Takes about 55 KB of stack: the keys, hashes and entries of 256
  // pre-tokens (8 KB), 128 bytes for each possible miss (32 KB), the ends of segments (2 KB),
  // and added tokens (10 KB). Merging adds 6 KB, or 13 KB for a long pre-token. All of this
  // must fit in 128 KB, the default stack of a thread in musl.
  void encode(InstructionSet instructions, const PreTokenBatch &batch, PreTokenCache &cache,
              IdBuffer &ids) const;

private:
  struct CacheMiss;
  struct CacheMisses;

  // The kind of item in a batch. The ids of a segment always come from merging. A pre-token may
  // also be an unreachable token (Vocabulary::unreachable_tokens).
  enum class Unit { PRE_TOKEN, SEGMENT };

  void encode_by_segments(InstructionSet instructions, const PreTokenBatch &batch,
                          PreTokenCache &cache, IdBuffer &ids) const;
  void encode_units(Unit unit, InstructionSet instructions, const PreTokenBatch &batch,
                    PreTokenCache &cache, IdBuffer &ids) const;
  void encode_with_misses(Unit unit, const PreTokenBatch &batch, CacheProbe &probe,
                          ShortCache &short_cache, PreTokenCache &cache, IdBuffer &ids) const;
  void collect_misses(Unit unit, const PreTokenBatch &batch, const CacheProbe &probe,
                      const ShortCache &short_cache, const PreTokenCache &cache,
                      CacheMisses &misses) const;
  void encode_misses(Unit unit, const PreTokenBatch &batch, const CacheProbe &probe,
                     PreTokenCache &cache, CacheMisses &misses) const;
  static void place_entries(CacheProbe &probe, CacheMisses &misses);

  const Vocabulary &vocabulary_;
  SegmentEncoder segment_encoder_;
  bool takes_segments_;
};

} // namespace pretok
