// Reads the template of a tokenizer.json: the ids that its post_processor adds.
#pragma once

#include "formats/json_part.hpp"
#include "formats/tokenizer_spec.hpp"

namespace pretok {

// Sets spec.before and spec.after. Sets `error` and returns false if the template is malformed
// or not supported.
bool read_template(const JsonPart &file, TokenizerSpec &spec, LoadError &error);

} // namespace pretok
