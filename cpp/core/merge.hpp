// Merging the bytes of a pre-token into tokens. bpe/merge.py is its twin.
//
// Of all neighbours that can merge, those with the lowest rank do, of equal ones the leftmost,
// until none can.
#pragma once

#include "pair_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Up to so many symbols the lowest rank is found by scanning, else with a heap.
inline constexpr std::size_t SHORT = 64;

// Merges `size` symbols in place, at most SHORT and at least one; returns how many are left.
// O(size^2).
inline std::size_t merge_short(std::uint32_t *symbols, std::size_t size,
                               const PairTable &pairs) {
  std::array<Merged, SHORT> found;
  for (std::size_t i = 0; i + 1 < size; ++i)
    found[i] = pairs.find(symbols[i], symbols[i + 1]);
  while (size > 1) {
    std::size_t at = 0;
    for (std::size_t i = 1; i + 1 < size; ++i)
      if (found[i].rank < found[at].rank)
        at = i;
    if (found[at].rank == NO_RANK)
      break;
    symbols[at] = found[at].id;
    --size;
    for (std::size_t i = at + 1; i < size; ++i)
      symbols[i] = symbols[i + 1];
    for (std::size_t i = at; i + 1 < size; ++i)
      found[i] = found[i + 1];
    if (at > 0)
      found[at - 1] = pairs.find(symbols[at - 1], symbols[at]);
    if (at + 1 < size)
      found[at] = pairs.find(symbols[at], symbols[at + 1]);
  }
  return size;
}

// The same for any number of symbols below 2^32 - 1. O(size * log(size)) time, some 40 bytes of
// memory each.
void merge_long(std::vector<std::uint32_t> &symbols, const PairTable &pairs);

} // namespace pretok
