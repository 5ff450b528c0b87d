// Turns the vocabulary of a BPE that merges characters into a vocabulary that merges bytes, and
// gives the same ids. Added merges of the lowest ranks join the bytes of each character, so
// each character is complete before the merges of the model apply.
// bpe/encoding/character_encoder.py does the same in Python.
#pragma once

#include "core/bpe/vocabulary_data.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace pretok {

inline constexpr std::string_view SPACE_MARK = "\xE2\x96\x81"; // U+2581

// A vocabulary of pieces. A piece is a token that is text.
struct CharacterModel {
  std::vector<std::string_view> texts; // of the pieces: UTF-8, unique and not empty
  std::vector<std::uint32_t> ids;      // of the pieces: unique, below first_step
  std::vector<Merge> merges;           // of these ids, in order of rank
  // The ids of the fallback tokens of the 256 bytes, in order of bytes. If the list is empty,
  // each byte that is not in `texts` gets an id of `first_step` or more.
  std::vector<std::uint32_t> fallback;
  // No token has this id or a larger one. These ids are for steps: symbols that only merging
  // needs, such as the first bytes of a character.
  std::uint32_t first_step = 0;
  bool has_spaces = false; // if true, each SPACE_MARK in `texts` becomes a space
};

// Sets the bytes, lengths, ids and merges of `data`.
void build_characters(const CharacterModel &model, VocabularyData &data);

} // namespace pretok
