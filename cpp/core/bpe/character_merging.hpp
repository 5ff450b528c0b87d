// The interface through which a Vocabulary merges pre-tokens that start as characters.
//
// CharacterMerge (character_merge.hpp) and PieceMerge (formats/piece_merge.hpp) implement it.
#pragma once

#include "core/bpe/dropout.hpp"
#include "core/bpe/pair_table.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

class CharacterMerging {
public:
  CharacterMerging() = default;
  CharacterMerging(const CharacterMerging &) = delete;
  CharacterMerging &operator=(const CharacterMerging &) = delete;
  virtual ~CharacterMerging() = default;

  // Sets the table of merges, before any other call. It must outlive this object.
  virtual void use(const PairTable & /*merges*/) {}

  // A token, and its half-open span in the bytes of its pre-token.
  struct Span {
    std::uint32_t id;
    std::size_t start;
    std::size_t end;
  };

  // Writes the ids of a pre-token of at least one byte to `to`, which has room for one id per
  // byte. Returns the number of ids, which may be 0. Takes O(n log n) time.
  virtual std::size_t merge(const std::uint8_t *bytes, std::size_t size,
                            std::uint32_t *to) const {
    std::vector<Span> tokens;
    spans(bytes, size, tokens);
    for (std::size_t i = 0; i < tokens.size(); ++i)
      to[i] = tokens[i].id;
    return tokens.size();
  }

  // Like `merge`, but leaves out merges at random, and never looks up the whole pre-token.
  virtual std::size_t merge_some(const std::uint8_t *bytes, std::size_t size, Dropout &dropout,
                                 std::uint32_t *to) const = 0;

  // Sets `result` to the tokens of a pre-token. As in Hugging Face's tokenizers, each token
  // begins where the token before it ends, even if a character between the two was dropped.
  virtual void spans(const std::uint8_t *bytes, std::size_t size,
                     std::vector<Span> &result) const = 0;
};

} // namespace pretok
