// Models whose tokens are text have more parts in their .pretok files. Reads these parts.
// bpe/formats/pretok_text.py documents these parts, and makes the same checks.
#pragma once

#include "formats/pretok_file_reader.hpp"
#include "formats/tokenizer_spec.hpp"

namespace pretok {

// Reads the section `text`, and sets spec.text. Sets `has_any_results` for read_tokens. Returns
// false after an error.
bool read_text_options(PretokFileReader &reader, TokenizerSpec &spec, bool &has_any_results);

// Checks the tokens and the added tokens of a model with tokens of text. Sets spec.characters
// if the model has such a form. Returns false after an error.
bool finish_text(PretokFileReader &reader, TokenizerSpec &spec);

} // namespace pretok
