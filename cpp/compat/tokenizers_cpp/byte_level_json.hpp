// Writes a tokenizer.json from the files of a byte-level BPE model.
#pragma once

#include "formats/load_error.hpp"

#include <string>
#include <string_view>

namespace pretok {

// Writes to `json` a tokenizer.json that does not split text. `vocabulary` and `added` are JSON
// objects of tokens and their ids; members with other values are ignored, and an empty `added`
// has no members. A token of `added` replaces one of `vocabulary`. `merges` has two tokens in
// each line, and may have lines that begin with "#version".
LoadError write_byte_level_json(std::string_view vocabulary, std::string_view merges,
                                std::string_view added, std::string &json);

} // namespace pretok
