// One alphabet for all stages of a pre-tokenizer, so that a class tells what every stage sees.
#pragma once

#include "core/split/program.hpp"
#include "core/unicode/unicode.hpp"

#include <vector>

namespace pretok {

// Rewrites the programs of `stages` over one alphabet: two code points share a class if they do
// in every stage. Returns false, and changes nothing, if more than 31 classes occur in `table`.
bool share_alphabet(std::vector<StageProgram> &stages, UnicodeTable table);

} // namespace pretok
