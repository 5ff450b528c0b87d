// The tokens of a .pretok file, which are its last part.
#pragma once

#include "core/bpe/vocabulary.hpp"
#include "formats/pretok_file_reader.hpp"

namespace pretok {

// Reads the rest of the file: the tokens, and what merges them. False once there is a error.
bool read_tokens(PretokFileReader &reader, VocabularyData &data);

} // namespace pretok
