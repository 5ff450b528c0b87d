// Finds the preset that equals the pre_tokenizer of a tokenizer.json.
#pragma once

#include "formats/json_part.hpp"
#include "formats/tokenizer_spec.hpp"

namespace pretok {

// Returns false after an error. No matching preset is not an error: the caller may choose one.
bool read_split(const JsonPart &file, TokenizerSpec &spec, LoadError &error);

} // namespace pretok
