// Reads the vocabulary of a GGUF file, the model format of llama.cpp: byte-level BPE, or
// SentencePiece's BPE.
// bpe/formats/gguf.py does the same in Python.
#pragma once

#include "formats/byte_source.hpp"
#include "formats/load_error.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Returns whether `data` begins with the bytes "GGUF".
bool is_gguf(const std::uint8_t *data, std::size_t size);

// Reads the tokenizer of a GGUF file. Reads only the metadata, which comes before the tensors.
// Takes linear time and space in the size of the metadata.
LoadError read_gguf(ByteSource &file, TokenizerSpec &spec);

} // namespace pretok
