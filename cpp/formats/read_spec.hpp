// Reads a tokenizer file of any format.
#pragma once

#include "core/base/ids.hpp"
#include "formats/byte_source.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Reads a tokenizer file of `size` bytes. The content decides the format: a tiktoken rank file,
// a GGUF file, a .pretok file, a .model of SentencePiece, or a tokenizer.json if the build has
// a JSON library. Takes linear time and space in `size`. `spec` does not refer to `data`. If
// there is no error:
//   - ids are below ID_LIMIT, and unique among the tokens of the vocabulary;
//   - each byte is a token if the vocabulary has no merges. If it has merges, bytes that are
//     rare or invalid in UTF-8 may be missing;
//   - added tokens are distinct.
LoadError read_spec(const std::uint8_t *data, std::size_t size, TokenizerSpec &spec);

// Reads a tokenizer from a ByteSource. Reads only the metadata of a GGUF file. Reads any other
// file as a whole, or stops one byte after the maximum size: the file is then too large.
LoadError read_spec(ByteSource &file, TokenizerSpec &spec);

// Checks the added tokens of `spec`. read_spec() calls it. Call check_added() again after
// appending added tokens.
LoadError check_added(const TokenizerSpec &spec);

} // namespace pretok
