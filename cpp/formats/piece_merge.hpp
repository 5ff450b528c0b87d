// Merges text with the pieces of a SentencePiece model, without a list of merges.
//
// PieceMerge needs only a hash table of the pieces: two adjacent symbols merge if their text
// together is a piece. It has two uses:
//   - the first short texts of a model, or of a vocabulary whose ids are ranks (its pieces are
//     bytes). To find the merges takes most of the time of loading. A PieceMerge takes several
//     times as long for a text as the merges do;
//   - models of which several pieces have equal scores. Merges have distinct ranks, so there is
//     no list of merges for such a model. A piece may also have a character that is not a
//     piece.
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

// The treatment of a character that is not part of any piece after merging.
struct UnknownCharacters {
  std::array<std::uint32_t, 256> fallback{}; // by byte; NO_ID if the byte has no token
  // If a byte has no token, adjacent unknown characters become one token with this id.
  std::uint32_t id = NO_ID;

  bool has_fallback() const;
};

// The pieces of a model by text, and their ranks.
class PieceTable {
public:
  // Pieces with scores. set_ranks() must be called. The memory that `pieces` view must outlive
  // the table.
  PieceTable(const ScoredPieces &pieces, const UnknownCharacters &unknown);
  // The tokens of a vocabulary whose ids are ranks. The memory that `tokens` view must outlive
  // the table.
  PieceTable(std::vector<std::string_view> tokens, std::vector<std::uint32_t> ids);
  // Not copyable: its index refers to texts_.
  PieceTable(const PieceTable &) = delete;
  PieceTable &operator=(const PieceTable &) = delete;

  // Sets the ranks of `pieces`, those of the constructor: the best score has the lowest rank.
  // Equal scores have equal ranks.
  void set_ranks(const ScoredPieces &pieces);
  // Returns the rank and the id of a normal piece. Any other text has NO_RANK.
  Merged find(std::string_view text) const;
  const UnknownCharacters &unknown() const { return unknown_; }

private:
  std::vector<std::string_view> texts_;
  std::vector<std::uint32_t> ids_;   // by the index of the text
  std::vector<std::uint32_t> ranks_; // likewise; NO_RANK if the piece is not normal
  std::size_t longest_ = 0;          // the size of the longest text
  TextIndex index_{texts_};
  UnknownCharacters unknown_;
};

// The first symbols are characters, or bytes if the pieces are bytes. With MARKED, spaces of a
// text stand for marks ("▁"). A pre-token that is a piece of BYTES is not merged.
enum class PieceUnits { CHARACTERS, MARKED, BYTES };

class PieceMerge final : public CharacterMerging {
public:
  PieceMerge(std::shared_ptr<const PieceTable> pieces, PieceUnits units)
      : pieces_(std::move(pieces)), units_(units) {}

  void spans(const std::uint8_t *bytes, std::size_t size,
             std::vector<Span> &result) const override {
    find_tokens(bytes, size, nullptr, result);
  }
  std::size_t merge_some(const std::uint8_t *bytes, std::size_t size, Dropout &dropout,
                         std::uint32_t *to) const override;

private:
  class Engine; // of merge_windows.hpp

  // Like `spans`; leaves out merges if `dropout` is not nullptr.
  void find_tokens(const std::uint8_t *bytes, std::size_t size, Dropout *dropout,
                   std::vector<Span> &result) const;

  std::shared_ptr<const PieceTable> pieces_;
  PieceUnits units_;
};

} // namespace pretok
