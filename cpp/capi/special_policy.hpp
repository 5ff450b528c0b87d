// Makes the policies. A policy has the added tokens that encoding searches for, for one value
// of pretok_special.
#pragma once

#include "capi/handles.hpp"

namespace pretok {

// Fills tokenizer.policies from tokenizer.added. Needs tokenizer.pipeline.
void make_policies(pretok_tokenizer &tokenizer);

} // namespace pretok
