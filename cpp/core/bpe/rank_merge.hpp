// Merges pre-tokens by the ranks of tokens, without a list of merges: two adjacent symbols
// merge if their bytes together are a token. This takes several times as long as merging with
// OrderedMerges, but needs no search for merges, which takes most of the time of loading a
// vocabulary from ranks. bpe/merge.py merges in the same way.
#pragma once

#include "core/bpe/character_merging.hpp"
#include "core/bpe/token_table.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

class RankMerge final : public CharacterMerging {
public:
  // `tokens` must outlive the RankMerge. It has all tokens, whose ids are ranks, and a token
  // for each byte.
  explicit RankMerge(const TokenTable &tokens) : tokens_(tokens) {}

  void spans(const std::uint8_t *bytes, std::size_t size,
             std::vector<Span> &result) const override;

private:
  const TokenTable &tokens_;
};

} // namespace pretok
