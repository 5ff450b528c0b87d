// Makes the policies of a tokenizer: for each value of pretok_special, the added tokens that
// encoding searches for.
#pragma once

#include "capi/handles.hpp"

namespace pretok {

// Fills tokenizer.policies from tokenizer.added. Needs tokenizer.pipeline.
void make_policies(pretok_tokenizer &tokenizer);

} // namespace pretok
