// Makes the parts of an encoder for a TokenizerSpec.
#pragma once

#include "core/bpe/vocabulary.hpp"
#include "formats/character_model.hpp"
#include "formats/piece_merges.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

// Returns the byte that a fallback token such as <0x0A> stands for. Returns nullopt for any
// other token.
std::optional<std::uint8_t> fallback_byte(std::string_view text);
// Returns whether each character that is not in `texts` becomes fallback tokens. A fallback
// token may be missing if its byte is a character in `texts`. Gemma 2 has a tab in place of
// <0x09>.
bool cover_characters(const std::vector<std::string_view> &texts);

// Returns views of the tokens of spec.vocabulary, in their order.
std::vector<std::string_view> texts_of(const TokenizerSpec &spec);

// Returns the tokens that have a score in spec.scores. The result views spec.vocabulary.
ScoredPieces scored_pieces(const TokenizerSpec &spec);

// Returns the lowest id that is larger than the ids of all tokens and added tokens. The steps
// get the ids from here on. A step is a symbol that only merging needs, such as the first bytes
// of a character.
std::uint32_t first_step(const TokenizerSpec &spec);
// Returns an upper bound on the number of steps that build_characters adds.
std::uint32_t max_steps(const TokenizerSpec &spec);

// Returns what is wrong with the charsmap of a normalizer, such as "is truncated"; "" if
// nothing is. Charsmap of bpe/normalizers/charsmap.py makes the same checks. If `growth` is not
// nullptr, sets it to Charsmap::max_growth().
std::string problem_of_charsmap(const std::vector<std::uint8_t> &charsmap,
                                std::size_t *growth = nullptr);

// The maximum number of characters of a user-defined symbol; MAX_SYMBOL of
// bpe/normalizers/sentencepiece.py.
inline constexpr std::size_t MAX_SYMBOL = 256;

// Returns whether an added token is found at the same places in a text and in the text with its
// spaces and invalid bytes replaced.
bool is_plain(const AddedToken &token);

// Returns whether the mark "▁" is a token.
bool has_mark(const TokenizerSpec &spec);

// Returns the normalizer of spec.sentencepiece.
SentencePieceNormalizer make_normalizer(const TokenizerSpec &spec);

// Returns the first problem of a model that the encoder does not support, such as "has ids that
// are too large". Returns "" if there is none. No two tokens may have the same text,
// and the mergeable tokens must be UTF-8.
std::string problem_of_characters(const TokenizerSpec &spec);

// Returns the model of `spec`, whose tokens are text. The model views spec.vocabulary. If
// `has_spaces`, spaces stand for marks ("▁").
CharacterModel model_of(const TokenizerSpec &spec, bool has_spaces);

// Returns the tokens that ids decode to: a fallback token of spec.text becomes its byte.
VocabularyData decoded_tokens(const TokenizerSpec &spec);

} // namespace pretok
