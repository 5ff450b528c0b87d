// Rank files of tiktoken, also those that are not as tiktoken writes them.
// bpe/formats/tiktoken.py is the twin.
#pragma once

#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Whether one of the first lines is one of a rank file.
bool looks_like_ranks(const std::uint8_t *data, std::size_t size);

// The error names the line.
LoadError read_tiktoken(const std::uint8_t *data, std::size_t size, TokenizerSpec &spec);

} // namespace pretok
