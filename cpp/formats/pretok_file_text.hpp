// Reads the parts of a .pretok file that only a model with tokens of text has.
// bpe/formats/pretok_text.py documents them, and makes the same checks.
#pragma once

#include "formats/pretok_file_reader.hpp"
#include "formats/tokenizer_spec.hpp"

namespace pretok {

// Reads the section `text`. Returns false after an error.
bool read_text_options(PretokFileReader &reader, CharacterSpec &options);

// Checks the tokens and the added tokens of a model with tokens of text. Returns false after an
// error.
bool check_text(PretokFileReader &reader, const TokenizerSpec &spec);

} // namespace pretok
