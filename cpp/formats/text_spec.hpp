// Makes the parts of an encoder for a model with TokenizerSpec::text.
#pragma once

#include "core/bpe/character_merge.hpp"
#include "formats/tokenizer_spec.hpp"

#include <string>
#include <vector>

namespace pretok {

// Returns the first problem of a model that the encoder does not support, such as "lacks the
// unknown token". Returns "" if there is none.
std::string problem_of_text(const TokenizerSpec &spec);

// Returns how the first symbols of the model follow from its characters.
CharacterData text_data(const TokenizerSpec &spec);

// Replaces the bytes of each fallback token, such as <0x0A>, by the byte that it stands for.
// Returns for each id whether it is a fallback token.
std::vector<bool> replace_fallback_texts(TokenizerSpec &spec);

// Replaces spec.text, its normalizer and spec.stages by a CharacterSpec, if one describes the
// model. Then encoding is faster, because it makes no normalized copy of a text.
void use_character_spec(TokenizerSpec &spec);

} // namespace pretok
