#include "formats/piece_merge.hpp"

#include "core/base/ids.hpp"
#include "core/bpe/merge.hpp"
#include "core/unicode/utf8.hpp"
#include "formats/character_model.hpp"
#include "formats/character_spec.hpp"
#include "formats/piece_merges.hpp"

#include <algorithm>
#include <string>

namespace pretok {
namespace {

// A symbol: the index of its first character in the high half, and of the character after its
// last one in the low half.
using Range = std::uint64_t;

constexpr Range range(std::uint64_t first, std::uint64_t end) { return first << 32 | end; }
constexpr std::size_t first_of(Range symbol) { return static_cast<std::size_t>(symbol >> 32); }
constexpr std::size_t end_of(Range symbol) { return static_cast<std::uint32_t>(symbol); }

struct MergedRange {
  std::uint32_t rank;
  Range id;
};

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
      ranks_[id] = rank_of(piece.score);
    else if (piece.type == PieceType::BYTE)
      if (const std::optional<std::uint8_t> byte = fallback_byte(piece.text))
        fallback_[*byte] = id;
  }
}

Merged PieceTable::find(std::string_view text) const {
  const std::uint32_t id = index_.find(text);
  return id == TextIndex::NO_TEXT ? Merged{NO_RANK, NO_ID} : Merged{ranks_[id], id};
}

bool PieceTable::has_fallback() const {
  return std::find(fallback_.begin(), fallback_.end(), NO_ID) == fallback_.end();
}

std::size_t PieceMerge::merge(const std::uint8_t *bytes, std::size_t size,
                              std::uint32_t *to) const {
  std::vector<Span> tokens;
  spans(bytes, size, tokens);
  std::transform(tokens.begin(), tokens.end(), to, [](const Span &token) { return token.id; });
  return tokens.size();
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
  const auto find = [&](std::size_t first, std::size_t end) {
    return pieces_->find(std::string_view(text).substr(text_starts[first],
                                                       text_starts[end] - text_starts[first]));
  };
  const auto find_merge = [&](Range left, Range right) {
    return MergedRange{find(first_of(left), end_of(right)).rank,
                       range(first_of(left), end_of(right))};
  };
  std::vector<Range> symbols;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i)
    symbols.push_back(range(i, i + 1));
  if (symbols.size() > MAX_SCANNED)
    merge_long(symbols, find_merge);
  else if (!symbols.empty())
    symbols.resize(merge_short(symbols.data(), symbols.size(), find_merge));
  result.clear();
  for (const Range symbol : symbols) {
    const std::size_t start = starts[first_of(symbol)];
    const std::size_t end = starts[end_of(symbol)];
    const Merged piece = find(first_of(symbol), end_of(symbol));
    if (piece.rank != NO_RANK)
      result.push_back({piece.id, start, end});
    else // one character without a piece
      for (std::size_t at = start; at < end; ++at)
        result.push_back({pieces_->fallback()[bytes[at]], at, at + 1});
  }
}

} // namespace pretok
