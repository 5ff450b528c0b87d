// Finds the preset that equals the pre_tokenizer of a tokenizer.json.
#pragma once

#include "formats/json_part.hpp"
#include "formats/tokenizer_spec.hpp"

namespace pretok {

// Sets spec.preset, or spec.why_no_preset if no preset matches. Returns false after an error.
bool read_split(const JsonPart &file, TokenizerSpec &spec, LoadError &error);

} // namespace pretok
