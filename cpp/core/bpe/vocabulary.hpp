// The tokens and merges of a vocabulary, and merging of one pre-token to ids.
#pragma once

#include "core/base/ids.hpp"
#include "core/base/prefetch.hpp"
#include "core/bpe/character_merging.hpp"
#include "core/bpe/dropout.hpp"
#include "core/bpe/merge.hpp"
#include "core/bpe/merge_barriers.hpp"
#include "core/bpe/ordered_merges.hpp"
#include "core/bpe/pair_table.hpp"
#include "core/bpe/short_merge.hpp"
#include "core/bpe/token_table.hpp"
#include "core/bpe/token_view.hpp"
#include "core/bpe/vocabulary_data.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pretok {

// Only `build` and find_merges change it; threads may share it otherwise.
class Vocabulary {
public:
  Vocabulary() = default;
  // Not copyable: its tables point into bytes_.
  Vocabulary(const Vocabulary &) = delete;
  Vocabulary &operator=(const Vocabulary &) = delete;

  // Returns nullptr, or a message that says what is wrong with `data`.
  const char *build(VocabularyData &&data);
  // Like `build`, for a vocabulary whose pre-tokens start as characters; `characters` is not
  // nullptr. Of `data`, uses the tokens and the list of merges. If a pair is listed twice, the
  // later rank counts. The result of a merge may be any token.
  const char *build(VocabularyData &&data, std::unique_ptr<CharacterMerging> characters);
  // Like `build` of data with `from_ranks`, but prepares only merges(): no other function may
  // be called afterwards. Takes less time.
  const char *find_merges(VocabularyData &&data);

  // Writes the ids of a pre-token of at least one byte to `to`, which has room for one id per
  // byte. Returns the number of ids, which may be 0 only if characters() is not nullptr. May
  // read past the pre-token, but not past `limit`. A byte without a token becomes NO_ID; only a
  // vocabulary with explicit merges can lack the token of a byte.
  std::size_t encode(const std::uint8_t *bytes, std::size_t size, const std::uint8_t *limit,
                     std::uint32_t *to) const {
    *to = whole_tokens_.find(bytes, size, limit);
    return *to != NO_ID ? 1 : merge(bytes, size, to);
  }

  // Like `encode`, without looking up the whole pre-token.
  std::size_t merge(const std::uint8_t *bytes, std::size_t size, std::uint32_t *to) const;

  // Like `merge`, but leaves out merges at random. The vocabulary must have been built from
  // ranks, or for_short_texts: other tables lack the merges that only dropout makes happen.
  std::size_t merge_some(const std::uint8_t *bytes, std::size_t size, Dropout &dropout,
                         std::uint32_t *to) const;

  // Replaces the `count` symbols of a finished merge by ids. `ids` has room for one id per
  // byte. Returns the number of ids.
  std::size_t finish(std::uint32_t *ids, std::size_t count) const {
    merges_.replace_by_ids(ids, count);
    return without_steps(ids, count);
  }

  const TokenTable &whole_tokens() const { return whole_tokens_; }

  // Returns the unreachable tokens: whole tokens that merging their own bytes does not make,
  // such as tokens that somebody added by hand. Only a pre-token that is an unreachable token
  // needs the look-up of a whole token: for any other pre-token, `encode` and `merge` give
  // equal ids. Empty without a merge table.
  const TokenTable &unreachable_tokens() const { return unreachable_tokens_; }

  // Return the merges and their barriers, or nullptr if OrderedMerges cannot hold the
  // vocabulary.
  const OrderedMerges *merge_table() const { return has_merge_table_ ? &merges_ : nullptr; }
  const MergeBarriers *barriers() const { return has_merge_table_ ? &barriers_ : nullptr; }
  // Returns how pre-tokens merge if they start as characters; else nullptr. The bytes of a
  // token may then differ from the bytes that it stands for.
  const CharacterMerging *characters() const { return characters_.get(); }
  // Returns whether the first merges make characters from bytes, with steps in between
  // (VocabularyData::first_step).
  bool has_steps() const { return first_step_ != NO_ID; }
  // Returns whether the vocabulary is ordered (ordered_merges.hpp).
  bool is_in_order() const { return in_order_; }

  // Returns an empty view if no token has this id.
  TokenView token(std::uint32_t id) const {
    return id < tokens_.size() ? tokens_[id] : TokenView{};
  }
  // Prefetches what `token` reads.
  void prefetch_token(std::uint32_t id) const {
    if (id < tokens_.size())
      prefetch(&tokens_[id]);
  }

  // Returns the merges in order of rank. recover_merges in bpe/merge.py defines the merges that
  // follow from ranks.
  std::vector<Merge> merges() const;

private:
  class Builder;  // build/vocabulary_builder.hpp
  class Ordered;  // Engine of merge_windows.hpp for ordered merges
  class AnyOrder; // Engine of merge_windows.hpp for all other merges

  // Replaces each step among `count` ids by the tokens of its bytes (VocabularyData). Returns
  // the new number of ids, which is at most the number of bytes.
  std::size_t without_steps(std::uint32_t *ids, std::size_t count) const {
    if (first_step_ == NO_ID ||
        std::all_of(ids, ids + count, [this](std::uint32_t id) { return id < first_step_; }))
      return count;
    return replace_steps(ids, count);
  }
  std::size_t replace_steps(std::uint32_t *ids, std::size_t count) const;

  std::size_t merge_ordered(const std::uint8_t *bytes, std::size_t size,
                            std::uint32_t *to) const;
  std::size_t merge_in_any_order(const std::uint8_t *bytes, std::size_t size,
                                 std::uint32_t *to) const;

  std::vector<std::uint8_t> bytes_;
  std::vector<TokenView> tokens_; // by id
  std::array<std::uint32_t, 256> byte_ids_{};
  TokenTable whole_tokens_{tokens_}; // tokens that a whole pre-token may become
  TokenTable unreachable_tokens_{tokens_};
  std::uint32_t first_step_ = NO_ID;
  bool in_order_ = false;
  bool has_merge_table_ = false; // whether merges_ and barriers_ are filled; true if in_order_
  OrderedMerges merges_;
  MergeBarriers barriers_;
  PairTable pairs_;                              // empty if in_order_
  std::unique_ptr<CharacterMerging> characters_; // refers to pairs_
};

} // namespace pretok
