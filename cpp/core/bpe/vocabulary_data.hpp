// The tokens and merges that a Vocabulary is built from.
#pragma once

#include "core/base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pretok {

struct Merge {
  std::uint32_t left;
  std::uint32_t right;
  std::uint32_t id; // the id of the result
};

// Returns whether the byte does not occur in usual text: UTF-8 never contains it, or it begins
// code points of planes 4 to 11, which are unassigned. A vocabulary with explicit merges may
// lack a token for such a byte, because a trainer that sees only text makes none.
inline bool is_rare_byte(std::size_t byte) {
  return byte == 0xC0 || byte == 0xC1 || byte == 0xF1 || byte == 0xF2 || byte >= 0xF5;
}

// The first `mergeable` tokens take part in merging. All further tokens are for decoding only.
struct VocabularyData {
  // Adds a token.
  void add(std::string_view token, std::uint32_t id) {
    bytes.insert(bytes.end(), token.begin(), token.end());
    lengths.push_back(static_cast<std::uint32_t>(token.size()));
    ids.push_back(id);
  }

  std::vector<std::uint8_t> bytes;    // all tokens, concatenated
  std::vector<std::uint32_t> lengths; // of each token, in bytes
  std::vector<std::uint32_t> ids;     // of each token
  std::size_t mergeable = 0;
  // If true, a merge ranks by the id of its result. If false, by its index in `merges`.
  bool from_ranks = true;
  // The merges in order of rank. If `from_ranks`, the list may be empty, and has only hints:
  // merges that probably follow from the ranks. Verifying a merge is faster than finding it.
  std::vector<Merge> merges;
  // If true, a pre-token that equals a token becomes this token, without merging.
  bool ignore_merges = true;
  // Tokens with ids from `first_step` on are only steps of merging: parts of the bytes of a
  // character. If no later merge uses a step, the step is replaced by the tokens of its bytes.
  // NO_ID: there are no steps.
  std::uint32_t first_step = NO_ID;
  // If true, the vocabulary has no tables that only make merging faster, so building it takes
  // less time. Without effect if `from_ranks`.
  bool for_short_texts = false;
};

} // namespace pretok
