// Reads the last sections of a .pretok file: the tokens, the merges and the ids.
#pragma once

#include "core/bpe/vocabulary.hpp"
#include "formats/pretok_file_reader.hpp"

namespace pretok {

// Reads the tokens, merges and ids, to the end of the file. If `has_any_results`, a merge may
// make a token other than its two tokens, joined. Returns false after an error.
bool read_tokens(PretokFileReader &reader, bool has_any_results, VocabularyData &data);

} // namespace pretok
