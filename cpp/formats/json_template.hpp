// What a tokenizer.json puts around a text: the ids of its post_processor.
#pragma once

#include "formats/json_part.hpp"
#include "formats/tokenizer_spec.hpp"

namespace pretok {

// Whether there is no error.
bool read_template(const JsonPart &file, TokenizerSpec &spec, LoadError &error);

} // namespace pretok
