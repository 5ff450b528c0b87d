// Finds the merges of pieces with equal scores that are runs of one character.
// bpe/characters/runs.py explains these merges, and supports a few more pieces.
#pragma once

#include "formats/piece_merges.hpp"

#include <cstdint>
#include <vector>

namespace pretok {

// `words` and `runs` have indices in `pieces`. All pieces of `runs` have the same score. It is
// the lowest score, so they merge after `words`. Appends merges of `runs` with distinct ranks,
// in order of rank. With these ranks, text gets the ids that SentencePiece gives. Returns false
// if it finds no such merges.
bool find_run_merges(const ScoredPieces &pieces, const std::vector<std::uint32_t> &words,
                     const std::vector<std::uint32_t> &runs, std::vector<Merge> &merges);

} // namespace pretok
