// The added tokens that a call searches for, by its policy for special tokens.
#pragma once

#include "capi/handles.hpp"

namespace pretok {

// Fills tokenizer.policies from tokenizer.added. Needs tokenizer.pipeline.
void make_policies(pretok_tokenizer &tokenizer);

} // namespace pretok
