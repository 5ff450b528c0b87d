// Reads the tokenizer.json of Hugging Face's tokenizers, for byte-level BPE.
// bpe/formats/huggingface.py does the same in Python.
#pragma once

#include "formats/tokenizer_spec.hpp"

#include <string_view>

namespace pretok {

// Reads a tokenizer.json. Recognizes the preset only if the pre_tokenizer equals the one of a
// built-in preset; Python also recognizes equivalent pre_tokenizers. Linear time and space.
LoadError read_tokenizer_json(std::string_view text, TokenizerSpec &spec);

} // namespace pretok
