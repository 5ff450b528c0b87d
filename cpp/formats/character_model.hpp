// Builds the vocabulary of a BPE that merges characters, as a vocabulary of bytes.
// bpe/encoding/character_backend.py does the same in Python, and explains it.
#pragma once

#include "core/bpe/vocabulary_data.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace pretok {

inline constexpr std::string_view SPACE_MARK = "\xE2\x96\x81"; // U+2581

struct CharacterModel {
  std::vector<std::string_view> texts; // UTF-8, unique and not empty
  std::vector<std::uint32_t> ids;      // of each text: its id, unique, below first_step
  std::vector<Merge> merges;           // of these ids, in order of rank
  // The ids of the fallback tokens of the 256 bytes. May be empty. In this case each byte that
  // is not in `texts` gets an id of at least `first_step`.
  std::vector<std::uint32_t> fallback;
  std::uint32_t first_step = 0; // the ids from here on are free
  bool has_spaces = false;      // tokens have a space in place of each SPACE_MARK
};

// Sets the bytes, lengths, ids and merges of `data`.
void build_characters(const CharacterModel &model, VocabularyData &data);

} // namespace pretok
