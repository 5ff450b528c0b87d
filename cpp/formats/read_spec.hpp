// Reading a file of a tokenizer, whatever its format.
#pragma once

#include "core/base/ids.hpp"
#include "formats/byte_source.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Reads the tokenizer that a file of `size` bytes holds. Formats are told apart by content: a
// rank file of tiktoken, a GGUF file, a file that Tokenizer.save("….pretok") wrote, or, where
// there is a JSON library, a tokenizer.json. Time and space are linear in the size; nothing of
// `data` is needed afterwards. All ids are below ID_LIMIT; no two tokens have one; each byte
// that a text can have is a token; added tokens differ, and have their own ids.
LoadError read_spec(const std::uint8_t *data, std::size_t size, TokenizerSpec &spec);

// The same for a file. Reads no more than the metadata of a GGUF file, and else at most one
// byte more than a file may have.
LoadError read_spec(ByteSource &file, TokenizerSpec &spec);

// What is wrong with the added tokens of a model, that may have got some more.
LoadError check_added(const TokenizerSpec &spec);

} // namespace pretok
