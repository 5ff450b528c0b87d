#include "core/bpe/vocabulary.hpp"

#include "core/bpe/merge_windows.hpp"

#include <algorithm>
#include <utility>

namespace pretok {
namespace {

std::size_t longest(const VocabularyData &data) {
  return *std::max_element(data.lengths.begin(), data.lengths.end());
}

// The ids of what can be merged, ascending.
std::vector<std::uint32_t> in_order(const VocabularyData &data) {
  const auto end = data.ids.begin() + static_cast<std::ptrdiff_t>(data.mergeable);
  std::vector<std::uint32_t> ids(data.ids.begin(), end);
  if (!std::is_sorted(ids.begin(), ids.end()))
    std::sort(ids.begin(), ids.end());
  return ids;
}

// Trainers that see only text may leave out the bytes that no UTF-8 has, and those that begin
// code points of planes 4 to 11, where Unicode has no characters.
bool is_in_text(std::size_t byte) {
  return byte != 0xC0 && byte != 0xC1 && byte != 0xF1 && byte != 0xF2 && byte < 0xF5;
}

} // namespace

class Vocabulary::Ordered {
public:
  static constexpr bool IN_ORDER = true;

  explicit Ordered(const Vocabulary &vocabulary) : of_(vocabulary) {}

  std::uint32_t symbol(std::uint8_t byte) const { return byte; }
  std::uint32_t id(std::uint32_t symbol) const { return of_.merges_.id(symbol); }
  Merged find(std::uint32_t left, std::uint32_t right) const {
    const std::uint32_t found = of_.merges_.find(left, right);
    return found == OrderedMerges::NONE ? Merged{NO_RANK, NO_ID} : Merged{found, found};
  }
  std::size_t width(std::uint32_t symbol) const {
    return symbol < OrderedMerges::BYTES ? 1 : of_.tokens_[id(symbol)].size;
  }
  bool stay_apart(std::uint32_t left, std::uint32_t right) const {
    return of_.merges_.stay_apart(left, right);
  }

private:
  const Vocabulary &of_;
};

class Vocabulary::AnyOrder {
public:
  static constexpr bool IN_ORDER = false;

  explicit AnyOrder(const Vocabulary &vocabulary) : of_(vocabulary) {}

  std::uint32_t symbol(std::uint8_t byte) const { return of_.byte_ids_[byte]; }
  std::uint32_t id(std::uint32_t symbol) const { return symbol; }
  Merged find(std::uint32_t left, std::uint32_t right) const {
    return of_.pairs_.find(left, right);
  }
  std::size_t width(std::uint32_t symbol) const {
    return symbol == NO_ID ? 1 : of_.tokens_[symbol].size;
  }
  bool stay_apart(std::uint32_t left, std::uint32_t right) const {
    if (left == NO_ID || right == NO_ID)
      return true;
    const TokenView a = of_.tokens_[left];
    const TokenView b = of_.tokens_[right];
    std::vector<std::uint8_t> both(a.bytes, a.bytes + a.size);
    both.insert(both.end(), b.bytes, b.bytes + b.size);
    std::vector<std::uint32_t> symbols;
    merge_window(*this, both.data(), both.size(), symbols);
    return symbols.size() == 2 && symbols[0] == left && symbols[1] == right;
  }

private:
  const Vocabulary &of_;
};

const char *Vocabulary::build(VocabularyData &&data) {
  bytes_ = std::move(data.bytes);
  if (const char *wrong = place_tokens(data))
    return wrong;
  if (const char *wrong = data.from_ranks ? nullptr : check(data.merges))
    return wrong;
  const std::vector<std::uint32_t> ids = in_order(data);
  whole_.reset(data.mergeable);
  if (data.from_ranks || data.ignore_merges)
    place_whole(ids);
  in_order_ = data.from_ranks ? order_likely(ids, data.merges) || order_ranks(ids)
                              : order_merges(data.merges);
  if (in_order_) {
    joints_.build(merges_,
                  [this](std::uint32_t symbol) { return tokens_[merges_.id(symbol)]; });
  } else {
    merges_ = OrderedMerges();
    if (data.from_ranks)
      pairs_from_ranks(ids);
    else
      pairs_from_merges(data.merges);
  }
  merging_makes_all_ = in_order_ && merges_.size() == data.mergeable;
  if (data.from_ranks || data.ignore_merges)
    return nullptr;
  // Looking up is for speed only here: merging must come to the same, as it does for what
  // merges in order make.
  std::vector<bool> is_made(tokens_.size());
  for (std::uint32_t symbol = 0; in_order_ && symbol < merges_.size(); ++symbol)
    if (merges_.id(symbol) != NO_ID)
      is_made[merges_.id(symbol)] = true;
  std::vector<std::uint32_t> parts(longest(data));
  for (const std::uint32_t id : ids) {
    const TokenView token = tokens_[id];
    parts[0] = id;
    if (is_made[id] || merge(token.bytes, token.size, parts.data()) == 1)
      whole_.insert(token.bytes, token.size, bytes_.data() + bytes_.size(), parts[0]);
  }
  merging_makes_all_ = true;
  return nullptr;
}

const char *Vocabulary::place_tokens(const VocabularyData &data) {
  if (data.ids.size() != data.lengths.size() || data.mergeable > data.ids.size())
    return "as many ids as lengths expected";
  std::size_t start = 0;
  byte_ids_.fill(NO_ID);
  const auto largest = std::max_element(data.ids.begin(), data.ids.end());
  if (largest != data.ids.end() && *largest >= ID_LIMIT)
    return "an id is too large";
  tokens_.assign(largest == data.ids.end() ? 0 : std::size_t{*largest} + 1, TokenView{});
  for (std::size_t i = 0; i < data.ids.size(); ++i) {
    const std::uint32_t id = data.ids[i];
    const std::uint32_t size = data.lengths[i];
    if (size == 0 || size > bytes_.size() - start)
      return "a token is empty, or longer than the bytes given";
    if (tokens_[id].bytes != nullptr)
      return "two tokens have one id";
    tokens_[id] = {bytes_.data() + start, size};
    if (size == 1 && i < data.mergeable)
      byte_ids_[bytes_[start]] = std::min(byte_ids_[bytes_[start]], id);
    start += size;
  }
  for (std::size_t byte = 0; byte < byte_ids_.size(); ++byte)
    if (byte_ids_[byte] == NO_ID && (data.from_ranks || is_in_text(byte)))
      return "a byte has no token";
  return nullptr;
}

// Of equal tokens the lowest counts.
void Vocabulary::place_whole(const std::vector<std::uint32_t> &ids) {
  constexpr std::size_t AT_ONCE = 64;
  const std::uint8_t *const limit = bytes_.data() + bytes_.size();
  std::array<ShortKey, AT_ONCE> keys; // none: too long
  for (std::size_t first = 0; first < ids.size(); first += AT_ONCE) {
    const std::size_t count = std::min(ids.size() - first, AT_ONCE);
    for (std::size_t i = 0; i < count; ++i) {
      const TokenView token = tokens_[ids[first + i]];
      keys[i] = token.size <= ShortKey::MOST ? ShortKey(token.bytes, token.size, limit)
                                             : ShortKey::none();
      whole_.prepare(keys[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t id = ids[first + i];
      if (keys[i].is_none())
        whole_.insert(tokens_[id].bytes, tokens_[id].size, limit, id);
      else
        whole_.insert_short(keys[i], id);
    }
  }
}

const char *Vocabulary::check(const std::vector<Merge> &merges) const {
  for (const Merge &merge : merges) {
    const TokenView left = token(merge.left);
    const TokenView right = token(merge.right);
    const TokenView result = token(merge.id);
    if (left.bytes == nullptr || right.bytes == nullptr || result.bytes == nullptr ||
        std::uint64_t{left.size} + right.size != result.size ||
        !std::equal(left.bytes, left.bytes + left.size, result.bytes) ||
        !std::equal(right.bytes, right.bytes + right.size, result.bytes + left.size))
      return "a merge names tokens that do not fit each other";
  }
  return nullptr;
}

std::size_t Vocabulary::merge_ordered(const std::uint8_t *bytes, std::size_t size,
                                      std::uint32_t *to) const {
  return merge_windows(Ordered(*this), bytes, size, to);
}

std::size_t Vocabulary::merge_in_any_order(const std::uint8_t *bytes, std::size_t size,
                                           std::uint32_t *to) const {
  return merge_windows(AnyOrder(*this), bytes, size, to);
}

std::vector<Merge> Vocabulary::merges() const {
  std::vector<Merge> result;
  if (in_order_) {
    result.reserve(merges_.size());
    for (std::uint32_t symbol = OrderedMerges::BYTES; symbol < merges_.size(); ++symbol) {
      const OrderedMerges::Parts parts = merges_.parts(symbol);
      result.push_back({merges_.id(parts.left), merges_.id(parts.right), merges_.id(symbol)});
    }
    return result;
  }
  std::vector<PairTable::Entry> found;
  for (const PairTable::Entry &entry : pairs_.entries())
    if (!PairTable::is_free(entry))
      found.push_back(entry);
  std::sort(found.begin(), found.end(),
            [](const auto &a, const auto &b) { return a.merged.rank < b.merged.rank; });
  result.reserve(found.size());
  for (const PairTable::Entry &entry : found)
    result.push_back({static_cast<std::uint32_t>(entry.pair >> 32),
                      static_cast<std::uint32_t>(entry.pair), entry.merged.id});
  return result;
}

} // namespace pretok
