// Special tokens in a text: what each call may do with them.
#pragma once

#include "capi/handles.hpp"

namespace pretok {

// Makes the policies of a tokenizer whose added tokens are known.
void make_policies(pretok_tokenizer &tokenizer);

} // namespace pretok
