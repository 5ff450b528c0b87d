// Finds the merges of pieces with equal scores that are runs of one character.
// bpe/character_runs.py explains them, and supports a few more.
#pragma once

#include "formats/piece_merges.hpp"

#include <cstdint>
#include <vector>

namespace pretok {

// Appends merges in order of rank that give the same ids as the pieces `runs`, which have the
// lowest score and merge after `words`. Both have indices in `pieces`. Returns false if there
// are no such merges.
bool find_run_merges(const ScoredPieces &pieces, const std::vector<std::uint32_t> &words,
                     const std::vector<std::uint32_t> &runs, std::vector<Merge> &merges);

} // namespace pretok
