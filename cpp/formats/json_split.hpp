// Finds the preset for the pre_tokenizer of a tokenizer.json.
#pragma once

#include "formats/json_part.hpp"
#include "formats/tokenizer_spec.hpp"

namespace pretok {

// Sets spec.preset and spec.add_prefix_space. If no preset has an equal pre_tokenizer, sets
// only spec.why_no_preset. Returns false after an error.
bool read_split(const JsonPart &file, TokenizerSpec &spec, LoadError &error);

} // namespace pretok
