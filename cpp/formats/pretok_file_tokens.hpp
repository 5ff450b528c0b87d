// Reads the last section of a .pretok file, the tokens and merges.
#pragma once

#include "core/bpe/vocabulary.hpp"
#include "formats/pretok_file_reader.hpp"

namespace pretok {

// Reads the tokens and merges, up to the end of the file. Returns false after an error.
bool read_tokens(PretokFileReader &reader, VocabularyData &data);

} // namespace pretok
