// The stages of pre_tokenizers and regexes that tokenizer.json files often have. Only Python
// compiles any other regex; these stages are generated from its results.
#pragma once

#include "core/normalize/normalizer_step.hpp"

#include <string_view>

namespace pretok {

// Appends the stage of a part of a pre_tokenizer to split.stages, and sets split.table. `part`
// is in the canonical form of json_split.cpp. Returns false if the part is unknown, or if the
// library lacks the Unicode version of the stage.
bool find_json_stage(std::string_view part, SplitSpec &split);

// Does the same for a regex of a Replace.
bool find_json_regex(std::string_view pattern, SplitSpec &split);

// Returns the Unicode version of these stages.
std::string_view json_unicode();

} // namespace pretok
