// Finds the preset, or the stages, for the pre_tokenizer of a tokenizer.json.
#pragma once

#include "formats/json_part.hpp"
#include "formats/tokenizer_spec.hpp"

#include <string_view>
#include <vector>

namespace pretok {

// Sets spec.preset and spec.add_prefix_space from the parts of a pre_tokenizer. If no built-in
// preset has the same parts, sets only spec.why_no_preset. If `drops_text`, the preset may drop
// text.
void find_split(const std::vector<JsonPart> &parts, bool drops_text, TokenizerSpec &spec);

// Sets the split of a model whose tokens are text, and spec.metaspace. Fails if the
// pre_tokenizer has a part that only Python reads.
void read_text_split(const std::vector<JsonPart> &parts, TokenizerSpec &spec);

// Returns whether the last part of a pre_tokenizer is ByteLevel.
bool ends_byte_level(const std::vector<JsonPart> &parts);

// Returns the stage that Metaspace makes of a text.
StageProgram metaspace_stage(std::string_view mark);
// Returns the stage that does not split.
StageProgram whole_stage();

} // namespace pretok
