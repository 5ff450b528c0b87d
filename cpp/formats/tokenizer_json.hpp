// Reads the tokenizer.json of Hugging Face's tokenizers, for byte-level BPE.
// bpe/formats/huggingface.py is the twin.
#pragma once

#include "formats/tokenizer_spec.hpp"

#include <string_view>

namespace pretok {

// Finds the preset only if the pre_tokenizer is written exactly like that of a built-in preset;
// Python also recognizes equivalent ones. Linear time and space.
LoadError read_tokenizer_json(std::string_view text, TokenizerSpec &spec);

} // namespace pretok
