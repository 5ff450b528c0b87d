// The tokens of a vocabulary, what merges them, and pre-tokens to ids.
#pragma once

#include "merge.hpp"
#include "pair_table.hpp"
#include "token_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Ids are below this: tables have room for each id up to the largest.
inline constexpr std::uint32_t ID_LIMIT = 1 << 24;

struct Merge {
  std::uint32_t left;
  std::uint32_t right;
  std::uint32_t id; // of the result
};

// What a vocabulary is made from. The first `mergeable` tokens take part in merging, the others
// are for decoding only.
struct VocabularyData {
  std::vector<std::uint8_t> bytes;    // of all tokens, one behind the other
  std::vector<std::uint32_t> lengths; // of each
  std::vector<std::uint32_t> ids;     // of each
  std::size_t mergeable = 0;
  bool from_ranks = true; // a merge's rank is the id of its result; else its place in `merges`
  std::vector<Merge> merges;
  bool ignore_merges = true; // a pre-token that is a token as a whole is not merged
};

struct TokenView {
  const std::uint8_t *bytes = nullptr; // nullptr: no token has this id
  std::uint32_t size = 0;
};

// Immutable once built.
class Vocabulary {
public:
  // Returns nullptr, or what is wrong with `data`.
  const char *build(VocabularyData &&data);

  // Calls emit(id) for each token of a pre-token of at least one byte. Memory up to `limit` may
  // be read.
  template <typename Emit>
  void encode(const std::uint8_t *bytes, std::size_t size, const std::uint8_t *limit,
              Emit &&emit) const {
    const std::uint32_t whole = whole_.find(bytes, size, limit);
    if (whole != NO_ID)
      return emit(whole);
    if (size > SHORT) {
      for (const std::uint32_t id : merged_long(bytes, size))
        emit(id);
      return;
    }
    std::array<std::uint32_t, SHORT> symbols;
    for (std::size_t i = 0; i < size; ++i)
      symbols[i] = byte_ids_[bytes[i]];
    const std::size_t left = merge_short(symbols.data(), size, pairs_);
    for (std::size_t i = 0; i < left; ++i)
      emit(symbols[i]);
  }

  // What no token has is empty.
  TokenView token(std::uint32_t id) const {
    return id < tokens_.size() ? tokens_[id] : TokenView{};
  }

  // One more than the largest id.
  std::size_t size() const { return tokens_.size(); }

  // The merges in order of rank; those from ranks as bpe/merge.py, recover_merges, says.
  std::vector<Merge> merges() const;

private:
  const char *place_tokens(const VocabularyData &data);
  void pairs_from_ranks(const VocabularyData &data);
  const char *pairs_from_merges(const VocabularyData &data);
  std::vector<std::uint32_t> merged(const TokenView &token) const;
  std::vector<std::uint32_t> merged_long(const std::uint8_t *bytes, std::size_t size) const;

  std::vector<std::uint8_t> bytes_;
  std::vector<TokenView> tokens_; // by id
  std::array<std::uint32_t, 256> byte_ids_{};
  TokenTable whole_; // tokens that a pre-token can be as a whole
  PairTable pairs_;
};

} // namespace pretok
