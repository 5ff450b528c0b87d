// The .pretok file, which holds all of a tokenizer in little space. bpe/formats/pretok_file.py
// is the twin, says what it looks like, and writes it.
#pragma once

#include "formats/tokenizer_spec.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pretok {

bool is_pretok_file(const std::uint8_t *data, std::size_t size);

// Linear time and space in the size: what merges make is limited.
LoadError read_pretok_file(const std::uint8_t *data, std::size_t size, TokenizerSpec &spec);

inline constexpr std::size_t MAX_MERGED_TOKEN_BYTES = 255;

// How many bytes the tokens that merges make may have, of `count` tokens: a merge is a few
// bytes of a file, whatever it makes. bpe/formats/contents.py has the same.
inline std::uint64_t max_merged_bytes(std::size_t count) {
  return std::max<std::uint64_t>(std::uint64_t{1} << 24, std::uint64_t{32} * count);
}

// What reads the tokens and merges of such a file, from byte `at` to its end, into a vocabulary
// whose from_ranks says of which kind it is.
LoadError read_pretok_file_tokens(const std::uint8_t *data, std::size_t size, std::size_t at,
                                  VocabularyData &vocabulary);

} // namespace pretok
