// Reads files tokenizer.json with byte-level BPE, a format of Hugging Face's library
// tokenizers. bpe/formats/huggingface.py does the same in Python.
#pragma once

#include "formats/load_error.hpp"
#include "formats/tokenizer_spec.hpp"

#include <string_view>

namespace pretok {

// Reads a tokenizer.json. Sets spec.preset only if the pre_tokenizer is written exactly like
// the pre_tokenizer of a built-in preset. The reader in Python also accepts equivalent
// pre_tokenizers. Takes linear time and space in the size of `text`.
LoadError read_tokenizer_json(std::string_view text, TokenizerSpec &spec);

} // namespace pretok
