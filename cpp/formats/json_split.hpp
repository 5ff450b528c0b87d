// Finds the preset, or the stages, for the pre_tokenizer of a tokenizer.json.
#pragma once

#include "formats/json_part.hpp"
#include "formats/tokenizer_spec.hpp"

#include <string_view>

namespace pretok {

// Sets spec.preset and spec.add_prefix_space. If no built-in preset has the same pre_tokenizer,
// sets only spec.why_no_preset. Sets `error` and returns false if the JSON is malformed.
bool read_split(const JsonPart &file, TokenizerSpec &spec, LoadError &error);

// Sets the split of a model whose tokens are text, and spec.metaspace. Fails if the
// pre_tokenizer has a part that only Python reads.
bool read_text_split(const JsonPart &file, TokenizerSpec &spec, LoadError &error);

// Returns the stage that Metaspace makes of a text.
StageProgram metaspace_stage(std::string_view mark);
// Returns the stage that does not split.
StageProgram whole_stage();

} // namespace pretok
