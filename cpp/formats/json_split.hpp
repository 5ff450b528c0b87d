// Finds the preset for the pre_tokenizer of a tokenizer.json.
#pragma once

#include "formats/json_part.hpp"
#include "formats/tokenizer_spec.hpp"

namespace pretok {

// Sets spec.preset and spec.add_prefix_space. If no built-in preset has the same pre_tokenizer,
// sets only spec.why_no_preset. Sets `error` and returns false if the JSON is malformed.
bool read_split(const JsonPart &file, TokenizerSpec &spec, LoadError &error);

} // namespace pretok
