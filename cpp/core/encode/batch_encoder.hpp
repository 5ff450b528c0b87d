// Batches of pre-tokens to ids: those that the cache has, and those that are merged and then
// put into it.
#pragma once

#include "core/base/id_buffer.hpp"
#include "core/base/instruction_set.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/cache/look_up.hpp"
#include "core/cache/pre_token_cache.hpp"
#include "core/encode/unit_encoder.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// The vocabulary must outlive it.
class BatchEncoder {
public:
  explicit BatchEncoder(const Vocabulary &vocabulary)
      : vocabulary_(vocabulary), units_(vocabulary),
        lowest_apart_(
            vocabulary.joints() != nullptr && vocabulary.merging_makes_all() ? 0xE3 : 0x100) {}

  // As PreTokens has it.
  unsigned lowest_apart() const { return lowest_apart_; }

  // Appends the ids of all of `given`.
  void encode(InstructionSet instructions, const PreTokens &given, PreTokenCache &cache,
              IdBuffer &ids) const;

private:
  struct Missing;

  void encode_missing(Missing *missing, std::size_t missing_count, const ShortKey *keys,
                      const std::uint8_t *limit, PreTokenCache &cache) const;

  const Vocabulary &vocabulary_;
  UnitEncoder units_;
  // The lead bytes of U+3000 to U+9FFF begin with this one; 0x100 if there are no units.
  unsigned lowest_apart_;
};

} // namespace pretok
