// Reads a tokenizer file of any format.
#pragma once

#include "core/base/ids.hpp"
#include "formats/byte_source.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Reads a tokenizer file of `size` bytes. The content decides the format: a tiktoken rank file,
// a GGUF file, a .pretok file, or a tokenizer.json if the build has a JSON library. Linear time
// and space. `data` is not used after the call. If there is no error:
//   - ids are below ID_LIMIT, and unique among the tokens of the vocabulary;
//   - each byte that text can have is a token;
//   - added tokens are distinct.
LoadError read_spec(const std::uint8_t *data, std::size_t size, TokenizerSpec &spec);

// Reads a tokenizer from a ByteSource. Reads only the metadata of a GGUF file, and at most one
// byte more than the limit of any other file.
LoadError read_spec(ByteSource &file, TokenizerSpec &spec);

// Checks the added tokens of `spec`. Callers that append added tokens call it again.
LoadError check_added(const TokenizerSpec &spec);

} // namespace pretok
