// Reads the post_processor of a tokenizer.json: the ids that it adds to a text.
#pragma once

#include "formats/json_part.hpp"
#include "formats/tokenizer_spec.hpp"

namespace pretok {

// Sets spec.before, spec.after and spec.trims. Fails if the template is malformed or not
// supported.
void read_template(const JsonPart &post_processor, TokenizerSpec &spec);

} // namespace pretok
