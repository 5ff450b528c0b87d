#include "formats/piece_merge.hpp"

#include "core/base/ids.hpp"
#include "core/bpe/merge_windows.hpp"
#include "core/unicode/utf8.hpp"
#include "formats/character_model.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace pretok {
namespace {

std::size_t longest_of(const std::vector<std::string_view> &texts) {
  std::size_t longest = 0;
  for (const std::string_view text : texts)
    longest = std::max(longest, text.size());
  return longest;
}

// A symbol: a half-open range of characters. The start is in the high half, the end in the low
// half.
using CharacterRange = std::uint64_t;

constexpr CharacterRange range_of(std::uint64_t start, std::uint64_t end) {
  return start << 32 | end;
}
constexpr std::size_t start_of(CharacterRange range) {
  return static_cast<std::size_t>(range >> 32);
}
constexpr std::size_t end_of(CharacterRange range) { return static_cast<std::uint32_t>(range); }

} // namespace

bool UnknownCharacters::has_fallback() const {
  return std::find(fallback.begin(), fallback.end(), NO_ID) == fallback.end();
}

PieceTable::PieceTable(const ScoredPieces &pieces, const UnknownCharacters &unknown)
    : texts_(pieces.texts), ids_(pieces.ids), ranks_(pieces.texts.size()),
      longest_(longest_of(texts_)), unknown_(unknown) {}

PieceTable::PieceTable(std::vector<std::string_view> tokens, std::vector<std::uint32_t> ids)
    : texts_(std::move(tokens)), ids_(std::move(ids)), ranks_(ids_),
      longest_(longest_of(texts_)) {}

void PieceTable::set_ranks(const ScoredPieces &pieces) {
  std::vector<std::uint32_t> keys(pieces.scores.size());
  std::transform(pieces.scores.begin(), pieces.scores.end(), keys.begin(), rank_of_score);
  std::vector<std::uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  const auto is_better = [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; };
  if (!std::is_sorted(order.begin(), order.end(), is_better)) // most files list pieces by score
    std::sort(order.begin(), order.end(), is_better);
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i != 0 && keys[order[i]] != keys[order[i - 1]])
      ++rank;
    ranks_[order[i]] = rank;
  }
}

Merged PieceTable::find(std::string_view text) const {
  // Hashing takes time in proportion to the text.
  const std::uint32_t at = text.size() > longest_ ? TextIndex::NO_TEXT : index_.find(text);
  return at == TextIndex::NO_TEXT ? Merged{NO_RANK, NO_ID} : Merged{ranks_[at], ids_[at]};
}

// Its units are the indices of the characters.
class PieceMerge::Engine {
public:
  struct MergedRange {
    std::uint32_t rank;
    CharacterRange id;
  };

  static constexpr bool HAS_EQUAL_PAIRS = false;
  static constexpr bool HAS_EQUAL_RANKS = true;

  // `starts` has the offset of each character in `text`, and the size of `text`.
  Engine(const PieceTable &pieces, std::string_view text,
         const std::vector<std::uint32_t> &starts, const std::uint32_t *units)
      : pieces_(pieces), text_(text), starts_(starts), units_(units) {}

  CharacterRange symbol(std::uint32_t unit) const {
    return range_of(unit, std::uint64_t{unit} + 1);
  }
  CharacterRange id(CharacterRange symbol) const { return symbol; }
  std::size_t width(CharacterRange symbol) const { return end_of(symbol) - start_of(symbol); }
  Merged piece(CharacterRange symbol) const {
    const std::size_t start = starts_[start_of(symbol)];
    return pieces_.find(text_.substr(start, starts_[end_of(symbol)] - start));
  }
  MergedRange find(CharacterRange left, CharacterRange right) const {
    const CharacterRange both = range_of(start_of(left), end_of(right));
    return {piece(both).rank, both};
  }
  bool is_valid_pair(CharacterRange left, CharacterRange right, std::size_t at) const {
    return merges_apart(*this, units_ + at, left, right);
  }

private:
  const PieceTable &pieces_;
  std::string_view text_;
  const std::vector<std::uint32_t> &starts_;
  const std::uint32_t *units_;
};

std::size_t PieceMerge::merge_some(const std::uint8_t *bytes, std::size_t size,
                                   Dropout &dropout, std::uint32_t *to) const {
  std::vector<Span> tokens;
  find_tokens(bytes, size, &dropout, tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    to[i] = tokens[i].id;
  return tokens.size();
}

void PieceMerge::find_tokens(const std::uint8_t *bytes, std::size_t size, Dropout *dropout,
                             std::vector<Span> &result) const {
  if (units_ == PieceUnits::BYTES && dropout == nullptr) {
    const Merged whole = pieces_->find({reinterpret_cast<const char *>(bytes), size});
    if (whole.rank != NO_RANK) {
      result.assign(1, {whole.id, 0, size});
      return;
    }
  }
  const bool has_spaces = units_ == PieceUnits::MARKED;
  // `text` has marks in place of spaces. `starts` has the offset in `text` of each character.
  std::string marked;
  std::vector<std::uint32_t> starts;
  if (size > UINT32_MAX / SPACE_MARK.size())
    throw std::length_error("expected a text without cuts of less than 1.4 GB; split the text");
  for (std::size_t at = 0; at < size;) {
    const std::size_t width =
        units_ == PieceUnits::BYTES ? 1 : decode_utf8(bytes + at, size - at).width;
    starts.push_back(static_cast<std::uint32_t>(has_spaces ? marked.size() : at));
    if (has_spaces && bytes[at] == ' ')
      marked += SPACE_MARK;
    else if (has_spaces)
      marked.append(reinterpret_cast<const char *>(bytes) + at, width);
    at += width;
  }
  const std::string_view text =
      has_spaces ? std::string_view(marked)
                 : std::string_view(reinterpret_cast<const char *>(bytes), size);
  const std::size_t count = starts.size();
  starts.push_back(static_cast<std::uint32_t>(text.size()));
  std::vector<std::uint32_t> units(count);
  std::iota(units.begin(), units.end(), 0);
  const Engine engine(*pieces_, text, starts, units.data());
  std::vector<CharacterRange> symbols(count);
  if (dropout == nullptr) {
    symbols.resize(merge_windows(engine, units.data(), count, symbols.data()));
  } else {
    std::transform(units.begin(), units.end(), symbols.begin(),
                   [&](std::uint32_t unit) { return engine.symbol(unit); });
    symbols.resize(dropout->merge(
        symbols.data(), count,
        [&](CharacterRange left, CharacterRange right) {
          return engine.piece(range_of(start_of(left), end_of(right)));
        },
        [](CharacterRange left, CharacterRange right, std::uint32_t) {
          return range_of(start_of(left), end_of(right));
        }));
  }
  const UnknownCharacters &unknown = pieces_->unknown();
  const bool has_fallback = unknown.has_fallback();
  result.clear();
  bool is_unknown = false; // whether the last symbol is an unknown character
  std::size_t start = 0;   // of the symbol, in `bytes`
  for (const CharacterRange symbol : symbols) {
    std::size_t end = start + starts[end_of(symbol)] - starts[start_of(symbol)];
    if (has_spaces) {
      end = start;
      for (std::size_t i = start_of(symbol); i < end_of(symbol); ++i)
        end += decode_utf8(bytes + end, size - end).width;
    }
    const Merged piece = engine.piece(symbol);
    const bool was_unknown = std::exchange(is_unknown, piece.rank == NO_RANK);
    if (!is_unknown) {
      result.push_back({piece.id, start, end});
    } else if (has_fallback) { // one character
      for (std::size_t at = start; at < end; ++at)
        result.push_back({unknown.fallback[bytes[at]], at, at + 1});
    } else if (was_unknown) {
      result.back().end = end;
    } else {
      result.push_back({unknown.id, start, end});
    }
    start = end;
  }
}

} // namespace pretok
