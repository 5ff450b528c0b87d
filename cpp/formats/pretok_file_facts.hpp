// Reads the section `facts` of a .pretok file, as bpe/formats/pretok_facts.py does.
#pragma once

#include "core/encode/token_facts.hpp"
#include "formats/pretok_file_reader.hpp"

namespace pretok {

// Returns false after an error.
bool read_facts_section(PretokFileReader &reader, TokenFacts &facts);

} // namespace pretok
