// The tokenizer.json of Hugging Face's tokenizers, as far as it is a byte-level BPE.
// bpe/formats/huggingface.py is the twin.
#pragma once

#include "formats/tokenizer_spec.hpp"

#include <string_view>

namespace pretok {

// Reads JSON text. What it splits by is known if it is written as for a preset that is built
// in; Python knows other ways to write the same. Linear time and space.
LoadError read_tokenizer_json(std::string_view text, TokenizerSpec &spec);

} // namespace pretok
