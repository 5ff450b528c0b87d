// Reads the template of a tokenizer.json: the ids that its post_processor adds.
#pragma once

#include "formats/json_part.hpp"
#include "formats/tokenizer_spec.hpp"

namespace pretok {

// Sets spec.before and spec.after. Returns false after an error.
bool read_template(const JsonPart &file, TokenizerSpec &spec, LoadError &error);

} // namespace pretok
