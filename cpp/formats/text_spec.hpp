// Makes, checks and simplifies a model with TokenizerSpec::text.
#pragma once

#include "formats/load_error.hpp"
#include "formats/text_model.hpp"
#include "formats/tokenizer_spec.hpp"

#include <string>
#include <string_view>

namespace pretok {

// Returns whether each byte of valid text has a token. `places` is the index of the texts of a
// vocabulary whose characters stand for bytes.
bool has_all_bytes(const TextIndex &places);

// Fills `data` with the texts as they are, and with the merges. Omits empty texts, and loose
// entries that no merge names. `prefix` and `places` are as in find_merges.
LoadError list_texts(const TextModel &source, const TextIndex &places, VocabularyData &data,
                     std::string_view prefix = {});

// Returns the first problem of a model that the encoder does not support, such as "lacks the
// unknown token". Returns "" if there is none.
std::string problem_of_text(const TokenizerSpec &spec);

// Replaces the normalizer and spec.stages by a CharacterSpec, if one describes the model. Then
// encoding is faster, because it makes no normalized copy of a text. A model that normalizes
// and decodes like SentencePiece needs a CharacterSpec: returns why there is none, or "".
std::string use_character_spec(TokenizerSpec &spec);

// Normalizes text for spec.characters like SentencePiece: with TextSpaces, which need no copy
// of the text and replace spec.sentencepiece, or else with spec.sentencepiece.
void use_sentencepiece(TokenizerSpec &spec);

// Sets spec.nfc in place of the steps if NFC is the whole normalizer.
void use_nfc(TokenizerSpec &spec);

} // namespace pretok
