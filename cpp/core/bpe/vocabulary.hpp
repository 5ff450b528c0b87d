// The tokens of a vocabulary, what merges them, and pre-tokens to ids.
#pragma once

#include "core/base/ids.hpp"
#include "core/bpe/merge.hpp"
#include "core/bpe/merge_barriers.hpp"
#include "core/bpe/ordered_merges.hpp"
#include "core/bpe/pair_table.hpp"
#include "core/bpe/short_merge.hpp"
#include "core/bpe/token_table.hpp"
#include "core/bpe/token_view.hpp"
#include "core/bpe/vocabulary_data.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Immutable once built, until it is built again.
class Vocabulary {
public:
  Vocabulary() = default;
  // Its tables point into its bytes.
  Vocabulary(const Vocabulary &) = delete;
  Vocabulary &operator=(const Vocabulary &) = delete;

  // Returns nullptr, or what is wrong with `data`.
  const char *build(VocabularyData &&data);

  // Writes the ids of a pre-token of at least one byte to `to`, where there must be room for
  // one a byte; returns how many. Memory up to `limit` may be read. A byte without a token,
  // which only a vocabulary with merges can have, becomes NO_ID.
  std::size_t encode(const std::uint8_t *bytes, std::size_t size, const std::uint8_t *limit,
                     std::uint32_t *to) const {
    *to = whole_tokens_.find(bytes, size, limit);
    return *to != NO_ID ? 1 : merge(bytes, size, to);
  }

  // The same for one that is no token as a whole.
  std::size_t merge(const std::uint8_t *bytes, std::size_t size, std::uint32_t *to) const {
    if (!in_order_)
      return merge_in_any_order(bytes, size, to);
    if (size > ShortMerge::MAX_BYTES)
      return merge_ordered(bytes, size, to);
    ShortMerge state;
    state.begin(bytes, size, merges_, barriers_);
    while (state.step(merges_)) {
    }
    return state.finish(merges_, to);
  }

  const TokenTable &whole_tokens() const { return whole_tokens_; }

  // Whether merging makes every token that a pre-token can be as a whole, so that looking it up
  // is for speed only.
  bool all_tokens_reachable() const { return all_tokens_reachable_; }

  // Where the merges are if they are in order, and the barriers that follow from them; nullptr
  // if they are not.
  const OrderedMerges *ordered() const { return in_order_ ? &merges_ : nullptr; }
  const MergeBarriers *barriers() const { return in_order_ ? &barriers_ : nullptr; }

  // What no token has is empty.
  TokenView token(std::uint32_t id) const {
    return id < tokens_.size() ? tokens_[id] : TokenView{};
  }

  // The merges in order of rank; those from ranks as bpe/merge.py, recover_merges, says.
  std::vector<Merge> merges() const;

private:
  class Builder; // build/vocabulary_builder.hpp
  class Ordered; // engines of merge_windows.hpp
  class AnyOrder;

  std::size_t merge_ordered(const std::uint8_t *bytes, std::size_t size,
                            std::uint32_t *to) const;
  std::size_t merge_in_any_order(const std::uint8_t *bytes, std::size_t size,
                                 std::uint32_t *to) const;

  std::vector<std::uint8_t> bytes_;
  std::vector<TokenView> tokens_; // by id
  std::array<std::uint32_t, 256> byte_ids_{};
  TokenTable whole_tokens_; // tokens that a pre-token can be as a whole
  bool all_tokens_reachable_ = false;
  bool in_order_ = false;
  OrderedMerges merges_;
  MergeBarriers barriers_;
  PairTable pairs_; // empty if the merges are in order
};

} // namespace pretok
