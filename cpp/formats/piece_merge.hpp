// Merges text with the pieces of a SentencePiece model, without a list of merges.
//
// To find the merges of a model takes most of the time of loading it. PieceMerge needs only a
// hash table of the pieces: two adjacent symbols merge if their text together is a piece. This
// takes several times as long for a text as the merges do, and so serves short texts only.
// bpe/characters/merger.py merges in the same way.
#pragma once

#include "core/bpe/character_merging.hpp"
#include "formats/piece_file.hpp"
#include "formats/piece_merges.hpp"
#include "formats/text_model.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace pretok {

// The pieces of a model by text, and their ranks.
class PieceTable {
public:
  // The memory that `pieces` view must outlive the table.
  explicit PieceTable(const std::vector<Piece> &pieces);
  // Not copyable: its index refers to texts_.
  PieceTable(const PieceTable &) = delete;
  PieceTable &operator=(const PieceTable &) = delete;

  std::size_t size() const { return texts_.size(); }
  bool are_different() const { return index_.size() == texts_.size(); }
  // Sets the ranks of pieces of several characters. `order` has indices of `pieces`.
  void set_ranks(const ScoredPieces &pieces, const PieceOrder &order);
  // Returns the rank and the id of a normal piece. Any other text has NO_RANK.
  Merged find(std::string_view text) const;
  // Returns the id of the fallback token of each byte, or NO_ID.
  const std::array<std::uint32_t, 256> &fallback() const { return fallback_; }
  bool has_fallback() const;

private:
  std::vector<std::string_view> texts_; // by id
  std::vector<std::uint32_t> ranks_;    // by id; NO_RANK if the piece is not normal
  TextIndex index_{texts_};
  std::array<std::uint32_t, 256> fallback_{};
};

// The model must have a fallback token for each byte. Spaces stand for marks ("▁").
class PieceMerge final : public CharacterMerging {
public:
  explicit PieceMerge(std::shared_ptr<const PieceTable> pieces) : pieces_(std::move(pieces)) {}

  void spans(const std::uint8_t *bytes, std::size_t size,
             std::vector<Span> &result) const override;

private:
  std::shared_ptr<const PieceTable> pieces_;
};

} // namespace pretok
