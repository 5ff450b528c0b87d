// The tokens and merges that a vocabulary is made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

struct Merge {
  std::uint32_t left;
  std::uint32_t right;
  std::uint32_t id; // of the result
};

// The first `mergeable` tokens take part in merging, the others
// are for decoding only.
struct VocabularyData {
  std::vector<std::uint8_t> bytes;    // of all tokens, one behind the other
  std::vector<std::uint32_t> lengths; // of each
  std::vector<std::uint32_t> ids;     // of each
  std::size_t mergeable = 0;
  bool from_ranks = true; // a merge's rank is the id of its result; else its place in `merges`
  // With ranks, what likely follows from them, in order, or nothing: that it does follow takes
  // less time to see than to find out.
  std::vector<Merge> merges;
  bool ignore_merges = true; // a pre-token that is a token as a whole is not merged
};

} // namespace pretok
