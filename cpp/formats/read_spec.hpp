// Reads a tokenizer file of any format.
#pragma once

#include "formats/byte_source.hpp"
#include "formats/load_error.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pretok {

// Reads a tokenizer file of `size` bytes. The content decides the format: a tiktoken rank file,
// a GGUF file, a .pretok file, a .model of SentencePiece, or a tokenizer.json. Takes linear
// time and space in `size`. `data` may be freed after the call. If there is no error, these
// conditions hold:
//   - ids are below ID_LIMIT, and unique among the tokens of the vocabulary;
//   - in a byte-level vocabulary, each of the 256 bytes is a token. But a vocabulary with
//     merges may lack the bytes that are rare or invalid in UTF-8 (is_rare_byte);
//   - the added tokens have distinct contents: UTF-8 that is not empty. If an added token has
//     the id of a token in the vocabulary, it names that token (names_token).
LoadError read_spec(const std::uint8_t *data, std::size_t size, TokenizerSpec &spec);

// Returns whether an added token with this content may have the id of `token`: the content is
// the bytes of the token, or the characters that stand for the bytes in a byte-level file. For
// example, "é" stands for the byte 0xE9.
bool names_token(std::string_view content, std::string_view token, const TokenizerSpec &spec);

// Reads a tokenizer from a ByteSource. Reads only the metadata of a GGUF file. Reads any other
// file as a whole, and fails if the file is larger than MAX_FILE_BYTES (read_spec.cpp).
LoadError read_spec(ByteSource &file, TokenizerSpec &spec);

} // namespace pretok
