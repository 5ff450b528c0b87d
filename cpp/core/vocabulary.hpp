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

  // Writes the ids of a pre-token of at least one byte to `to`, where there must be room for
  // one a byte; returns how many. Memory up to `limit` may be read. A byte without a token,
  // which only a vocabulary with merges can have, becomes NO_ID.
  std::size_t encode(const std::uint8_t *bytes, std::size_t size, const std::uint8_t *limit,
                     std::uint32_t *to) const {
    *to = whole_.find(bytes, size, limit);
    return *to != NO_ID ? 1 : merge(bytes, size, to);
  }

  // The same with the pre-token's hash, and its bytes if they are at most ShortBytes::MOST.
  std::size_t encode_hashed(const std::uint8_t *bytes, std::size_t size,
                            const ShortBytes &short_bytes, std::uint64_t hash,
                            std::uint32_t *to) const {
    *to = size <= ShortBytes::MOST ? whole_.find_short(short_bytes, size, hash)
                                   : whole_.find_long(bytes, size, hash);
    return *to != NO_ID ? 1 : merge(bytes, size, to);
  }

  // The same for one that is no token as a whole.
  std::size_t merge(const std::uint8_t *bytes, std::size_t size, std::uint32_t *to) const {
    if (size > SHORT)
      return merge_many(bytes, size, to);
    for (std::size_t i = 0; i < size; ++i)
      to[i] = byte_ids_[bytes[i]];
    return merge_short(bytes, to, size, pairs_);
  }

  const TokenTable &whole() const { return whole_; }

  // What no token has is empty.
  TokenView token(std::uint32_t id) const {
    return id < tokens_.size() ? tokens_[id] : TokenView{};
  }

  // The merges in order of rank; those from ranks as bpe/merge.py, recover_merges, says.
  std::vector<Merge> merges() const;

private:
  const char *place_tokens(const VocabularyData &data);
  void pairs_from_ranks(const VocabularyData &data);
  const char *pairs_from_merges(const VocabularyData &data);
  void insert(std::uint32_t left, std::uint32_t right, Merged merged);
  std::size_t merge_many(const std::uint8_t *bytes, std::size_t size, std::uint32_t *to) const;
  void merge_window(const std::uint8_t *bytes, std::size_t size,
                    std::vector<std::uint32_t> &ids) const;
  void put_both(std::uint32_t left, std::uint32_t right, std::vector<std::uint8_t> &both) const;
  std::uint32_t joined(std::uint32_t left, std::uint32_t right,
                       std::vector<std::uint8_t> &both) const;
  // How many bytes an id stands for.
  std::size_t width(std::uint32_t id) const { return id == NO_ID ? 1 : tokens_[id].size; }
  bool stay_apart(std::uint32_t left, std::uint32_t right) const;

  std::vector<std::uint8_t> bytes_;
  std::vector<TokenView> tokens_; // by id
  std::array<std::uint32_t, 256> byte_ids_{};
  TokenTable whole_; // tokens that a pre-token can be as a whole
  PairTable pairs_;
};

} // namespace pretok
