// What a tokenizer.json puts around a text: the ids of its post_processor.
#pragma once

#include "formats/json_part.hpp"
#include "formats/model.hpp"

namespace pretok {

// Whether there is no fault.
bool read_template(const JsonPart &file, Model &model, Fault &fault);

} // namespace pretok
