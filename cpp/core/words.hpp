// Word characters, for added tokens that are a single word: those of bpe/special.py.
#pragma once

#include "added.hpp"

namespace pretok {

AddedTokens::Ranges word_ranges();

} // namespace pretok
