// Merging that starts with characters, as SentencePiece and Hugging Face's tokenizers do for
// models that are not byte-level. bpe/characters/merger.py does the same in Python.
//
//   pre-token      "abжc"
//   first symbols  a b <unk> c     first_symbols: CharacterData says which
//   merging        ab <unk> c      merge.hpp
//
// A model whose characters all become tokens of their bytes needs no CharacterMerge: Vocabulary
// merges the bytes of such characters first (VocabularyData::first_step), which is faster.
#pragma once

#include "core/base/ids.hpp"
#include "core/bpe/character_merging.hpp"
#include "core/bpe/pair_table.hpp"
#include "core/bpe/token_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// The place of a character in its pre-token. A model may have different tokens for one
// character, such as "c" at the start of a word, "##c" within it, and "c</w>" at its end.
enum class CharacterPlace : std::uint8_t { INNER = 0, FIRST = 1, LAST = 2, ONLY = 3 };

// The token that a character becomes at one place.
struct CharacterToken {
  std::uint32_t code_point; // or a byte, if CharacterData::byte_widths is not empty
  CharacterPlace place;
  std::uint32_t id;
};

// A token that a whole pre-token may become without merging.
struct WholeToken {
  std::vector<std::uint8_t> bytes;
  std::uint32_t id;
};

struct CharacterData {
  std::vector<CharacterToken> tokens;
  std::vector<WholeToken> whole;
  // The id of an unknown character: a character without a token. NO_ID: the character is
  // dropped, and its neighbors may merge.
  std::uint32_t unknown = NO_ID;
  // If true, adjacent unknown characters of a pre-token become one `unknown`.
  bool fuses_unknown = false;
  // Empty, or by byte an id or NO_ID. A character without a token becomes the ids of its bytes,
  // if none of them is NO_ID. Else it is unknown.
  std::vector<std::uint32_t> fallback;
  // Not empty: each byte of a pre-token is a character of its own (GPT-2's alphabet, in which a
  // character stands for a byte). By byte: the number of bytes of its character in UTF-8, in
  // which the spans of tokens are counted. See `sized`.
  std::vector<std::uint8_t> byte_widths;
};

class CharacterMerge final : public CharacterMerging {
public:
  // Returns nullptr, or a message that says what is wrong with `data`.
  const char *build(CharacterData &&data);
  void use(const PairTable &merges) override { merges_ = &merges; }
  std::size_t merge(const std::uint8_t *bytes, std::size_t size,
                    std::uint32_t *to) const override;
  std::size_t merge_some(const std::uint8_t *bytes, std::size_t size, Dropout &dropout,
                         std::uint32_t *to) const override;
  void spans(const std::uint8_t *bytes, std::size_t size,
             std::vector<Span> &result) const override;

private:
  class Engine; // of merge_windows.hpp

  // Calls put(id, width) for each first symbol of a pre-token. `width` is the number of bytes
  // that the symbol stands for, in characters of byte_widths if these are not empty.
  template <typename Put>
  void first_symbols(const std::uint8_t *bytes, std::size_t size, Put put) const;
  // Returns the id of a character, or NO_ID.
  std::uint32_t find(std::uint32_t code_point, unsigned place) const {
    return code_point < LOW ? low_[place][code_point] : others_.find(code_point, place).id;
  }
  bool has_fallback(const std::uint8_t *bytes, std::size_t size) const;
  std::uint32_t find_whole(const std::uint8_t *bytes, std::size_t size) const {
    return whole_.is_empty() ? NO_ID : whole_.find(bytes, size, bytes + size);
  }

  static constexpr std::uint32_t LOW = 256;

  CharacterData data_;                                  // without `tokens`
  std::array<std::array<std::uint32_t, LOW>, 4> low_{}; // by place and code point
  PairTable others_;                                    // by code point and place
  const PairTable *merges_ = nullptr;
  std::vector<std::uint8_t> whole_bytes_;
  std::vector<TokenView> whole_views_; // by id
  TokenTable whole_{whole_views_};
};

} // namespace pretok
