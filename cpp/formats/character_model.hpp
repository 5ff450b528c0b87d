// A vocabulary whose merges start from characters, and the Vocabulary that encodes with it.
//
// There are two ways to encode. If each unknown character has fallback tokens, the vocabulary
// becomes one that merges bytes, which is faster: added merges of the lowest ranks join the
// bytes of each character, so each character is complete before the merges of the model apply.
// Any other vocabulary merges characters (core/bpe/character_merge.hpp).
// bpe/characters/merger.py merges in pure Python.
#pragma once

#include "core/base/ids.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/split/program.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

inline constexpr std::string_view SPACE_MARK = "\xE2\x96\x81"; // U+2581

// A vocabulary of pieces. A piece is a token that is text.
struct CharacterModel {
  std::vector<std::string_view> texts; // of the pieces: UTF-8, unique and not empty
  std::vector<std::uint32_t> ids;      // of the pieces: unique, below first_step
  std::vector<Merge> merges;           // of these ids, in order of rank
  // By index of the piece: whether a pre-token with this text becomes the piece without
  // merging. Empty if all pre-tokens are merged.
  std::vector<bool> is_whole;
  // By byte, the id of its fallback token, or NO_ID. Empty if there are no fallback tokens.
  std::vector<std::uint32_t> fallback;
  std::uint32_t unknown = NO_ID; // CharacterData explains this member and fuses_unknown
  bool fuses_unknown = false;
  // The lookup of a character's piece puts `prefix` before each character but the first of a
  // pre-token, and `suffix` after the last.
  std::string prefix;
  std::string suffix;
  bool byte_level = false; // the characters of pieces stand for bytes
  bool has_spaces = false; // if true, each SPACE_MARK in `texts` becomes a space
  // No token has this id or a larger one. These ids are for steps: symbols that only merging
  // needs, such as the first bytes of a character.
  std::uint32_t first_step = 0;

  // Returns whether each character has a piece or fallback tokens.
  bool covers_characters() const;
  // Returns whether the pieces become a vocabulary of bytes.
  bool merges_bytes() const;
  // Returns whether text can be cut before each run of marks ("▁"). Such a cut changes no ids
  // if the mark is a piece, and no merge makes a piece that has a mark after a character that
  // is not a mark.
  bool allows_cuts() const;
};

// Builds `vocabulary`. `tokens` has the tokens that ids decode to; with has_spaces, another
// object decodes ids. tokens.for_short_texts counts too. Returns nullptr, or a message that
// says what is wrong.
const char *build_characters(const CharacterModel &model, VocabularyData &&tokens,
                             Vocabulary &vocabulary);

// Returns the pre-tokenizer that cuts text before each mark, or before each run of marks if
// `at_runs`, or before spaces that stand for marks if `has_spaces`.
std::vector<StageProgram> cut_at_marks(bool at_runs, bool has_spaces);
// Returns the pre-tokenizer that does not split text.
std::vector<StageProgram> cut_nowhere();
// Returns whether a pre-tokenizer has one stage with one rule, which matches the whole text.
bool keeps_whole(const std::vector<StageProgram> &stages);

} // namespace pretok
