// The .pretok file, which holds all of a tokenizer in little space. bpe/formats/compact.py is
// the twin, says what it looks like, and writes it.
#pragma once

#include "model.hpp"

#include <cstddef>
#include <cstdint>

namespace pretok {

bool is_compact(const std::uint8_t *data, std::size_t size);

// Linear time and space in the size: a token is at most COMPACT_MOST_MADE bytes for each merge
// that makes it.
Fault read_compact(const std::uint8_t *data, std::size_t size, Model &model);

inline constexpr std::size_t COMPACT_MOST_MADE = 255;

// What reads the tokens and merges of such a file, from byte `at` to its end, into a vocabulary
// whose from_ranks says of which kind it is.
Fault read_compact_tokens(const std::uint8_t *data, std::size_t size, std::size_t at,
                          VocabularyData &vocabulary);

} // namespace pretok
