// Reads .pretok files. A .pretok file has a whole tokenizer in compact form.
// bpe/formats/pretok_file.py documents the layout, and reads and writes these files in Python.
#pragma once

#include "formats/load_error.hpp"
#include "formats/tokenizer_spec.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pretok {

// Returns whether `data` begins with the eight bytes of the .pretok format.
bool is_pretok_file(const std::uint8_t *data, std::size_t size);

// Reads a .pretok file. Takes linear time and space in `size`, because max_merged_bytes()
// limits the size of the tokens that merges make.
LoadError read_pretok_file(const std::uint8_t *data, std::size_t size, TokenizerSpec &spec);

// The maximum size of a token that a merge makes.
inline constexpr std::size_t MAX_MERGED_TOKEN_BYTES = 255;

// Returns the maximum total size, in bytes, of the tokens that merges make in a file with
// `count` tokens. Without a limit, a few merges could fill the memory, because each merge may
// double the length of a token. bpe/formats/spec.py has the same limit.
inline std::uint64_t max_merged_bytes(std::size_t count) {
  return std::max<std::uint64_t>(std::uint64_t{1} << 24, std::uint64_t{32} * count);
}

} // namespace pretok
