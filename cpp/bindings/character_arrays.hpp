// Makes a CharacterMerging of the arguments of Python.
#pragma once

#include "bindings/packed_tokens.hpp"
#include "core/bpe/character_merging.hpp"
#include "formats/piece_merge.hpp"
#include "formats/piece_merges.hpp"

#include <cstdint>
#include <memory>
#include <tuple>
#include <variant>
#include <vector>

namespace pretok {

// The fields of CharacterArrays in bpe/encoding/character_arrays.py: code_points, places, ids;
// whole_bytes, whole_lengths, whole_ids; unknown, fuses_unknown, fallback and byte_widths.
using CharacterArrays =
    std::tuple<Array<std::uint32_t>, Array<std::uint32_t>, Array<std::uint32_t>, py::bytes,
               Array<std::uint32_t>, Array<std::uint32_t>, std::uint32_t, bool,
               Array<std::uint32_t>, py::bytes>;

// The pieces of a SentencePiece model in Python. Their memory includes the file that they view.
struct SharedPieceTable {
  std::shared_ptr<const PieceTable> table;
  std::shared_ptr<const ScoredPieces> normal;
  bool is_ordered = false;       // whether `table` has ranks
  std::vector<Merge> run_merges; // PieceOrder::run_merges
};

using Characters = std::variant<CharacterArrays, SharedPieceTable>;

// Returns a CharacterMerge or a PieceMerge. If `has_spaces`, spaces stand for the marks of
// pieces. Throws py::value_error if the arguments are wrong.
std::unique_ptr<CharacterMerging> make_merging(const Characters &characters, bool has_spaces);

} // namespace pretok
