// The tokens of a .pretok file, which are its last part.
#pragma once

#include "compact_reader.hpp"
#include "vocabulary.hpp"

namespace pretok {

// Reads the rest of the file: the tokens, and what merges them. False once there is a fault.
bool read_tokens(CompactReader &reader, VocabularyData &data);

} // namespace pretok
