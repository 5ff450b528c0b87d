// Fills a Vocabulary.
#pragma once

#include "core/bpe/vocabulary.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pretok {

class Vocabulary::Builder {
public:
  explicit Builder(Vocabulary &vocabulary) : vocabulary_(vocabulary) {}

  // Do the work of Vocabulary::build and Vocabulary::find_merges.
  const char *build(VocabularyData &&data);
  const char *build(VocabularyData &&data, std::unique_ptr<CharacterMerging> characters);
  const char *find_merges(VocabularyData &&data);

private:
  // place_tokens fills Vocabulary::tokens_ and byte_ids_. place_tokens, check_bytes and
  // check_merges return nullptr, or an error message.
  const char *place_tokens(VocabularyData &data);
  const char *check_bytes(const VocabularyData &data) const;
  void find_reachable(bool from_ranks);
  bool is_reachable(std::uint32_t id);
  const char *check_merges(const std::vector<Merge> &merges) const;
  std::vector<std::uint32_t> reset_merges(std::size_t count);
  std::vector<std::uint32_t> byte_symbols() const;
  std::vector<std::uint32_t> byte_ids_of(TokenView token) const;
  // Each order_ function fills Vocabulary::merges_, and returns whether the vocabulary is
  // ordered (ordered_merges.hpp). Each pairs_ function fills Vocabulary::pairs_.
  bool order_ranks(const std::vector<std::uint32_t> &ids);
  bool order_likely(const std::vector<std::uint32_t> &ids, const std::vector<Merge> &likely);
  bool merges_fit() const;
  bool order_merges(const std::vector<Merge> &merges);
  void pairs_from_ranks(const std::vector<std::uint32_t> &ids);
  void pairs_from_merges(const std::vector<Merge> &merges);
  std::uint32_t find_token(const std::uint8_t *bytes, std::size_t size);
  bool makes_from_higher(std::uint32_t id, Merge &merge);
  bool table_from_pairs();
  void insert_pair(const Merge &merge);
  std::vector<Merge> merges_that_happen();
  bool ends_with(const Merge &merge) const;

  Vocabulary &vocabulary_;
  std::vector<bool> is_made_; // by id: whether find_reachable knows that merges make the token
  std::vector<std::uint32_t> merged_; // for is_reachable; kept, so that its memory is reused
  // The mergeable tokens, while whole_tokens_ does not have them yet; else nullptr.
  const std::vector<std::uint32_t> *unlisted_ = nullptr;
  std::vector<Merge> listed_; // the merges of Vocabulary::pairs_, in order of rank
  // The number of the first merges of `merges_` that hold even if the vocabulary is not
  // ordered. A failed order_ranks or order_merges sets it.
  std::uint32_t kept_ = 0;
  // The number of tokens, in order of id, whose merges order_ranks has found. order_ranks stops
  // at the first token that has a part with a higher id.
  std::size_t ordered_count_ = 0;
};

} // namespace pretok
