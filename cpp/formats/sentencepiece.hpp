// Reads the .model files of SentencePiece. bpe/formats/sentencepiece.py does the same in
// Python.
#pragma once

#include "formats/load_error.hpp"
#include "formats/tokenizer_spec.hpp"

#include <string_view>

namespace pretok {

// Returns whether `data` begins like a SentencePiece model. The model is a protobuf message
// whose first field is a piece (tag '\n'). The piece has a text (tag '\n') and a score (tag
// 0x15).
bool is_sentencepiece(std::string_view data);

// Reads a model of type BPE with fallback tokens for all bytes. The model may replace spaces by
// marks and put a mark before the text. Only Python reads models that change text in other
// ways.
LoadError read_sentencepiece(std::string_view data, TokenizerSpec &spec);

} // namespace pretok
