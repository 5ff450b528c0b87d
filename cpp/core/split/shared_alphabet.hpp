// An alphabet maps each code point to a class. This file makes one alphabet for all stages of a
// pre-tokenizer. A class of this alphabet determines the class in the alphabet of each stage.
#pragma once

#include "core/split/program.hpp"
#include "core/unicode/unicode.hpp"

#include <vector>

namespace pretok {

// Rewrites the programs of `stages` to one alphabet: two code points share a class if they
// share a class in every stage. Returns false, and changes nothing, if the alphabet would need
// more than 31 classes: class 31 is END.
bool share_alphabet(std::vector<StageProgram> &stages, UnicodeTable table);

} // namespace pretok
