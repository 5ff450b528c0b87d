// Bounds how much a chain of decoders grows a token. bpe/decoders/growth.py does the same.
#pragma once

#include "core/decode/decoder_step.hpp"

#include <string>
#include <vector>

namespace pretok {

// Returns "", or the predicate of a sentence about decoders that grow a token too much.
std::string problem_of_growth(const std::vector<DecoderStep> &steps);

} // namespace pretok
