#include "formats/piece_merge.hpp"

#include "core/base/ids.hpp"
#include "core/bpe/merge_ranges.hpp"
#include "core/unicode/utf8.hpp"
#include "formats/character_model.hpp"
#include "formats/character_spec.hpp"

#include <algorithm>
#include <string>

namespace pretok {
namespace {

std::vector<std::string_view> texts_of(const std::vector<Piece> &pieces) {
  std::vector<std::string_view> texts(pieces.size());
  std::transform(pieces.begin(), pieces.end(), texts.begin(),
                 [](const Piece &piece) { return piece.text; });
  return texts;
}

} // namespace

PieceTable::PieceTable(const std::vector<Piece> &pieces)
    : texts_(texts_of(pieces)), ranks_(pieces.size(), NO_RANK) {
  fallback_.fill(NO_ID);
  for (std::uint32_t id = 0; id < pieces.size(); ++id) {
    const Piece &piece = pieces[id];
    if (piece.type == PieceType::NORMAL)
      ranks_[id] = 0;
    else if (piece.type == PieceType::BYTE)
      if (const std::optional<std::uint8_t> byte = fallback_byte(piece.text))
        fallback_[*byte] = id;
  }
}

void PieceTable::set_ranks(const ScoredPieces &pieces, const PieceOrder &order) {
  std::uint32_t rank = 0;
  for (const std::uint32_t word : order.words)
    ranks_[pieces.ids[word]] = rank++;
  for (const std::uint32_t run : order.runs)
    ranks_[pieces.ids[run]] = rank;
}

Merged PieceTable::find(std::string_view text) const {
  const std::uint32_t id = index_.find(text);
  return id == TextIndex::NO_TEXT ? Merged{NO_RANK, NO_ID} : Merged{ranks_[id], id};
}

bool PieceTable::has_fallback() const {
  return std::find(fallback_.begin(), fallback_.end(), NO_ID) == fallback_.end();
}

void PieceMerge::spans(const std::uint8_t *bytes, std::size_t size,
                       std::vector<Span> &result) const {
  // `text` has marks in place of spaces. By character, and for the end: the offset in `bytes`,
  // and the offset in `text`.
  std::string text;
  std::vector<std::size_t> starts;
  std::vector<std::size_t> text_starts;
  for (std::size_t at = 0; at < size;) {
    starts.push_back(at);
    text_starts.push_back(text.size());
    const std::size_t width = decode_utf8(bytes + at, size - at).width;
    if (bytes[at] == ' ')
      text += SPACE_MARK;
    else
      text.append(reinterpret_cast<const char *>(bytes) + at, width);
    at += width;
  }
  starts.push_back(size);
  text_starts.push_back(text.size());
  const auto find = [&](UnitRange range) {
    const std::size_t start = text_starts[range.start];
    return pieces_->find(std::string_view(text).substr(start, text_starts[range.end] - start));
  };
  result.clear();
  merge_ranges(
      starts.size() - 1, [&](UnitRange range) { return find(range).rank; },
      [&](UnitRange range) {
        const std::size_t start = starts[range.start];
        const std::size_t end = starts[range.end];
        const Merged piece = find(range);
        if (piece.rank != NO_RANK)
          return result.push_back({piece.id, start, end});
        for (std::size_t at = start; at < end; ++at) // one character without a piece
          result.push_back({pieces_->fallback()[bytes[at]], at, at + 1});
      });
}

} // namespace pretok
