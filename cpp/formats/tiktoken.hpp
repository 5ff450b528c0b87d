// Reads tiktoken rank files, and the variants of the format that other programs write.
// bpe/formats/tiktoken.py does the same in Python.
#pragma once

#include "formats/load_error.hpp"
#include "formats/tokenizer_spec.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

// Returns whether one of the first three lines that are not empty has a token and its rank.
// Looks at the first 64 KiB only.
bool looks_like_ranks(const std::uint8_t *data, std::size_t size);

// Reads a rank file. Error messages have the number of the line.
LoadError read_tiktoken(const std::uint8_t *data, std::size_t size, TokenizerSpec &spec);

} // namespace pretok
