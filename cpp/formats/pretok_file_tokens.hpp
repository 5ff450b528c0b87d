// Reads the last sections of a .pretok file: the tokens, the merges and the ids.
#pragma once

#include "core/bpe/vocabulary.hpp"
#include "formats/pretok_file_reader.hpp"

namespace pretok {

// Reads the tokens, merges and ids, to the end of the file. Returns false after an error.
bool read_tokens(PretokFileReader &reader, VocabularyData &data);

} // namespace pretok
