// Merges by slow and simple code, for tests that compare it with Vocabulary.
#pragma once

#include "core/base/ids.hpp"
#include "core/bpe/vocabulary.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace pretok::slow_merging {

using Ids = std::vector<std::uint32_t>;
using Ranks = std::map<std::pair<std::uint32_t, std::uint32_t>, Merged>;

inline std::mt19937 source(20261120);
inline std::size_t below(std::size_t limit) { return source() % limit; }

inline const std::uint8_t *bytes_of(const std::string &text) {
  return reinterpret_cast<const std::uint8_t *>(text.data());
}

// A vocabulary, and the same vocabulary for merging by slow code.
struct Example {
  VocabularyData data;
  std::vector<std::string> tokens; // by id
  Ranks ranks;
};

// Returns the ids of a pre-token. Merges the pair with the lowest rank until no pair has a
// merge. If this pair occurs several times, merges its first occurrence.
inline Ids merged(const Example &example, const std::string &pre_token) {
  if (example.data.ignore_merges)
    for (std::uint32_t id = 0; id < example.tokens.size(); ++id)
      if (example.tokens[id] == pre_token)
        return {id};
  Ids ids;
  for (const char byte : pre_token)
    for (std::uint32_t id = 0; id < 256; ++id)
      if (example.tokens[id][0] == byte)
        ids.push_back(id);
  for (;;) {
    Merged best{NO_RANK, NO_ID};
    std::size_t place = 0;
    for (std::size_t at = 0; at + 1 < ids.size(); ++at) {
      const auto found = example.ranks.find({ids[at], ids[at + 1]});
      if (found != example.ranks.end() && found->second.rank < best.rank) {
        best = found->second;
        place = at;
      }
    }
    if (best.rank == NO_RANK)
      return ids;
    ids[place] = best.id;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

} // namespace pretok::slow_merging
