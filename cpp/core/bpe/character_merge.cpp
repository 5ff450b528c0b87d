#include "core/bpe/character_merge.hpp"

#include "core/bpe/merge_windows.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <utility>

namespace pretok {
namespace {

// A symbol: the id of a token in the low half, and the number of first symbols that it was
// merged from in the high half.
using WideSymbol = std::uint64_t;

constexpr WideSymbol wide(std::uint32_t id, std::uint64_t count) { return count << 32 | id; }
constexpr std::uint32_t id_of(WideSymbol symbol) { return static_cast<std::uint32_t>(symbol); }
constexpr std::uint64_t count_of(WideSymbol symbol) { return symbol >> 32; }

} // namespace

// Its units are the ids of the first symbols.
class CharacterMerge::Engine {
public:
  struct WideMerged {
    std::uint32_t rank;
    WideSymbol id;
  };

  // Two pairs of equal ids may come from different first symbols.
  static constexpr bool HAS_EQUAL_PAIRS = false;
  static constexpr bool HAS_EQUAL_RANKS = false;

  Engine(const PairTable &merges, const std::uint32_t *units)
      : merges_(merges), units_(units) {}

  WideSymbol symbol(std::uint32_t unit) const { return wide(unit, 1); }
  WideSymbol id(WideSymbol symbol) const { return symbol; }
  WideMerged find(WideSymbol left, WideSymbol right) const {
    const Merged merged = merges_.find(id_of(left), id_of(right));
    return {merged.rank, wide(merged.id, count_of(left) + count_of(right))};
  }
  std::size_t width(WideSymbol symbol) const {
    return static_cast<std::size_t>(count_of(symbol));
  }
  bool is_valid_pair(WideSymbol left, WideSymbol right, std::size_t at) const {
    return merges_apart(*this, units_ + at, left, right);
  }

private:
  const PairTable &merges_;
  const std::uint32_t *units_;
};

const char *CharacterMerge::build(CharacterData &&data) {
  data_ = std::move(data);
  if (!(data_.fallback.empty() || data_.fallback.size() == LOW) ||
      !(data_.byte_widths.empty() || data_.byte_widths.size() == LOW))
    return "expected one fallback id and one width for each byte, or none";
  if (std::find(data_.byte_widths.begin(), data_.byte_widths.end(), 0) !=
      data_.byte_widths.end())
    return "expected widths of at least one byte";
  for (auto &ids : low_)
    ids.fill(NO_ID);
  others_.reset(data_.tokens.size());
  for (const CharacterToken &token : data_.tokens) {
    const auto place = static_cast<std::size_t>(token.place);
    if (token.id >= ID_LIMIT || place >= low_.size())
      return "expected ids of characters below 16777216, and places below 4";
    if (token.code_point < LOW)
      low_[place][token.code_point] = token.id;
    else
      others_.insert(token.code_point, static_cast<std::uint32_t>(place), Merged{0, token.id});
  }
  data_.tokens = {};
  for (const WholeToken &token : data_.whole) {
    if (token.id >= ID_LIMIT || token.bytes.empty())
      return "expected ids of whole tokens below 16777216, and tokens of at least one byte";
    whole_bytes_.insert(whole_bytes_.end(), token.bytes.begin(), token.bytes.end());
  }
  std::vector<std::uint32_t> ids;
  std::size_t start = 0;
  for (const WholeToken &token : data_.whole) {
    if (whole_views_.size() <= token.id)
      whole_views_.resize(std::size_t{token.id} + 1);
    whole_views_[token.id] = {whole_bytes_.data() + start,
                              static_cast<std::uint32_t>(token.bytes.size())};
    ids.push_back(token.id);
    start += token.bytes.size();
  }
  whole_.assign(ids, whole_bytes_.data() + whole_bytes_.size());
  data_.whole = {};
  return nullptr;
}

bool CharacterMerge::has_fallback(const std::uint8_t *bytes, std::size_t size) const {
  return !data_.fallback.empty() && std::all_of(bytes, bytes + size, [&](std::uint8_t byte) {
    return data_.fallback[byte] != NO_ID;
  });
}

template <typename Put>
void CharacterMerge::first_symbols(const std::uint8_t *bytes, std::size_t size, Put put) const {
  const bool are_bytes = !data_.byte_widths.empty();
  std::size_t unknown = 0; // the number of bytes of the pending unknown token
  const auto put_unknown = [&] {
    if (unknown != 0)
      put(data_.unknown, unknown);
    unknown = 0;
  };
  for (std::size_t at = 0; at < size;) {
    const Decoded character =
        are_bytes ? Decoded{bytes[at], 1} : decode_utf8(bytes + at, size - at);
    const std::size_t end = at + character.width;
    const std::size_t width = are_bytes ? data_.byte_widths[bytes[at]] : character.width;
    const std::uint32_t id =
        find(character.code_point, (at == 0 ? 1U : 0U) | (end == size ? 2U : 0U));
    if (id != NO_ID) {
      put_unknown();
      put(id, width);
    } else if (has_fallback(bytes + at, character.width)) {
      // As in Hugging Face's tokenizers, a pending unknown token comes after these tokens.
      for (; at < end; ++at)
        put(data_.fallback[bytes[at]], 1);
    } else if (data_.unknown != NO_ID) {
      if (!data_.fuses_unknown)
        put_unknown();
      unknown += width;
    }
    at = end;
  }
  put_unknown();
}

std::size_t CharacterMerge::merge(const std::uint8_t *bytes, std::size_t size,
                                  std::uint32_t *to) const {
  const std::uint32_t whole = find_whole(bytes, size);
  if (whole != NO_ID) {
    *to = whole;
    return 1;
  }
  std::size_t count = 0;
  first_symbols(bytes, size, [&](std::uint32_t id, std::size_t) { to[count++] = id; });
  if (count == 0)
    return 0;
  if (count <= MAX_SCANNED)
    return merge_short(to, count, [this](std::uint32_t left, std::uint32_t right) {
      return merges_->find(left, right);
    });
  const std::vector<std::uint32_t> units(to, to + count);
  std::vector<WideSymbol> symbols(count);
  symbols.resize(
      merge_windows(Engine(*merges_, units.data()), units.data(), count, symbols.data()));
  std::transform(symbols.begin(), symbols.end(), to, id_of);
  return symbols.size();
}

std::size_t CharacterMerge::merge_some(const std::uint8_t *bytes, std::size_t size,
                                       Dropout &dropout, std::uint32_t *to) const {
  std::size_t count = 0;
  first_symbols(bytes, size, [&](std::uint32_t id, std::size_t) { to[count++] = id; });
  return dropout.merge(to, count, [this](std::uint32_t left, std::uint32_t right) {
    return merges_->find(left, right);
  });
}

void CharacterMerge::spans(const std::uint8_t *bytes, std::size_t size,
                           std::vector<Span> &result) const {
  result.clear();
  const std::uint32_t whole = find_whole(bytes, size);
  if (whole != NO_ID) {
    result.push_back({whole, 0, size});
    return;
  }
  std::vector<std::uint32_t> units;
  std::vector<std::size_t> widths;
  first_symbols(bytes, size, [&](std::uint32_t id, std::size_t width) {
    units.push_back(id);
    widths.push_back(width);
  });
  std::vector<WideSymbol> symbols(units.size());
  symbols.resize(merge_windows(Engine(*merges_, units.data()), units.data(), units.size(),
                               symbols.data()));
  std::size_t unit = 0;
  std::size_t start = 0;
  for (const WideSymbol symbol : symbols) {
    std::size_t end = start;
    for (std::uint64_t i = count_of(symbol); i != 0; --i)
      end += widths[unit++];
    result.push_back({id_of(symbol), start, end});
    start = end;
  }
  if (data_.byte_widths.empty())
    return;
  // Convert the spans in characters to spans in bytes. `owners` has, for each byte of the
  // characters, the index of the byte that the character stands for.
  std::vector<std::size_t> owners;
  for (std::size_t at = 0; at < size; ++at)
    owners.insert(owners.end(), data_.byte_widths[bytes[at]], at);
  for (Span &span : result) {
    span.start = owners[span.start];
    span.end = owners[span.end - 1] + 1;
  }
}

} // namespace pretok
