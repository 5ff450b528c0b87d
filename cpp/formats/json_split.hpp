// How a tokenizer.json splits: the preset that its pre_tokenizer is.
#pragma once

#include "formats/json_part.hpp"
#include "formats/tokenizer_spec.hpp"

namespace pretok {

// Whether there is no error. That no preset is found is none: one may be chosen.
bool read_split(const JsonPart &file, TokenizerSpec &spec, LoadError &error);

} // namespace pretok
