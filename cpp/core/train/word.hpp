// The words of training. In training, a word is a distinct pre-token of the texts.
#pragma once

#include <cstdint>
#include <vector>

namespace pretok {

// A word and its count.
struct Word {
  const std::uint8_t *data; // owned by the WordTable
  std::uint64_t first;      // the position of its first occurrence in the texts
  std::int64_t count;
  std::uint32_t size; // in bytes
};

// The tokens of a vocabulary, in the order in which Trainer compares them. Each has one unit or
// more: bytes or characters. `lengths` has the number of units of each token, and `units` the
// units of all.
struct TokenAlphabet {
  std::vector<std::uint32_t> units;
  std::vector<std::uint32_t> lengths;
};

} // namespace pretok
