// Finds the merges of a SentencePiece model, which has only pieces with scores.
//
// Two adjacent symbols merge if their text together is a piece. The piece with the highest
// score merges first. If all scores differ, at most one pair of symbols ever merges to a piece.
// bpe/characters/vocabulary.py defines the merges in Python.
#pragma once

#include "core/bpe/vocabulary_data.hpp"
#include "formats/load_error.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace pretok {

struct ScoredPieces {
  std::vector<std::string_view> texts; // UTF-8, unique and not empty
  std::vector<std::uint32_t> ids;
  std::vector<float> scores; // not NaN
};

// The pieces of several characters, as indices of ScoredPieces.
struct PieceOrder {
  std::vector<std::uint32_t> words; // with different scores, best score first
  // Runs of one character, such as "▁▁" and "▁▁▁▁" in Llama 2, with equal scores. They merge
  // after all words.
  std::vector<std::uint32_t> runs;
  std::vector<Merge> run_merges; // the merges that make `runs`
};

// Returns a number that is lower for a higher score. As in sentencepiece, -0.0 is less than
// 0.0.
std::uint32_t rank_of_score(float score);

// Fills `order`. Fails if two pieces of several characters have equal scores, unless they are
// runs of one character and merge last. A piece that no two symbols make has no place in the
// order, so its score ties with no other.
LoadError order_pieces(const ScoredPieces &pieces, PieceOrder &order);

// Sets `merges` to the merges in order of rank. Fails if order_pieces fails, or if a character
// of a piece is not a piece.
LoadError find_piece_merges(const ScoredPieces &pieces, std::vector<Merge> &merges);

// Finds the merges of pieces with equal scores that are runs of one character, as
// bpe/characters/runs.py does, which supports a few more pieces.
//
// `words` and `runs` have indices in `pieces`. All pieces of `runs` have the same score. It is
// the lowest score, so they merge after `words`. Appends merges of `runs` with distinct ranks,
// in order of rank. With these ranks, text gets the ids that SentencePiece gives. Returns false
// if it finds no such merges.
bool find_run_merges(const ScoredPieces &pieces, const std::vector<std::uint32_t> &words,
                     const std::vector<std::uint32_t> &runs, std::vector<Merge> &merges);

} // namespace pretok
