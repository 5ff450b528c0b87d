// Word characters, for added tokens that are a single word: those of
// bpe/encoding/added_tokens.py.
#pragma once

#include "added.hpp"

namespace pretok {

AddedTokens::Ranges word_ranges();

} // namespace pretok
