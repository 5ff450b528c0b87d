// Makes the parts of an encoder of a model whose tokens are text (TokenizerSpec::characters).
#pragma once

#include "core/bpe/vocabulary_data.hpp"
#include "core/split/program.hpp"
#include "formats/character_model.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

// Returns the byte of a fallback token such as <0x0A>, or nullopt.
std::optional<std::uint8_t> fallback_byte(std::string_view text);

// Returns views of the tokens of spec.vocabulary, in their order.
std::vector<std::string_view> texts_of(const TokenizerSpec &spec);

// Returns an id above those of all tokens and added tokens.
std::uint32_t first_step(const TokenizerSpec &spec);
// Returns an upper bound on the number of steps that byte_vocabulary adds.
std::uint32_t max_steps(const TokenizerSpec &spec);

// Returns the first part of `spec` that the encoder does not support, as "has ...", or "". The
// texts of the tokens differ.
std::string problem_of_characters(const TokenizerSpec &spec);

// Returns the first `mergeable` tokens as a vocabulary of bytes, in which spaces replace the
// mark "▁". Steps have ids from first_step(spec) on: symbols that only merging needs, such as
// the bytes of a character.
VocabularyData byte_vocabulary(const TokenizerSpec &spec);

// Returns the split of the vocabulary of bytes. If the model does not split text, the split has
// boundaries only where no merge crosses, and Encoder needs them only to cut long texts.
std::vector<StageProgram> character_stages(const TokenizerSpec &spec);

} // namespace pretok
