// Reads the tokenizer.json of Hugging Face's tokenizers, for byte-level BPE.
// bpe/formats/huggingface.py does the same in Python.
#pragma once

#include "formats/tokenizer_spec.hpp"

#include <string_view>

namespace pretok {

// Reads a tokenizer.json. Sets spec.preset only if the pre_tokenizer equals that of a built-in
// preset. The Python reader also accepts any equivalent pre_tokenizer. Takes linear time and
// space in the size of `text`.
LoadError read_tokenizer_json(std::string_view text, TokenizerSpec &spec);

} // namespace pretok
