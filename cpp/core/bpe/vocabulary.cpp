#include "core/bpe/vocabulary.hpp"

#include "core/bpe/merge_windows.hpp"

namespace pretok {

// An Engine (merge_windows.hpp) whose symbols are the symbols of OrderedMerges.
class Vocabulary::Ordered {
public:
  static constexpr bool HAS_EQUAL_PAIRS = true;
  static constexpr bool HAS_EQUAL_RANKS = false;

  explicit Ordered(const Vocabulary &vocabulary) : vocabulary_(vocabulary) {}

  std::uint32_t symbol(std::uint8_t byte) const { return byte; }
  std::uint32_t id(std::uint32_t symbol) const { return vocabulary_.merges_.id(symbol); }
  Merged find(std::uint32_t left, std::uint32_t right) const {
    const std::uint32_t symbol = vocabulary_.merges_.find(left, right);
    return symbol == OrderedMerges::NO_MERGE ? Merged{NO_RANK, NO_ID} : Merged{symbol, symbol};
  }
  std::size_t width(std::uint32_t symbol) const {
    return symbol < OrderedMerges::BYTES ? 1 : vocabulary_.tokens_[id(symbol)].size;
  }
  bool is_valid_pair(std::uint32_t left, std::uint32_t right, std::size_t /*at*/) const {
    return vocabulary_.merges_.is_valid_pair(left, right);
  }

private:
  const Vocabulary &vocabulary_;
};

// An Engine (merge_windows.hpp) whose symbols are ids.
class Vocabulary::AnyOrder {
public:
  static constexpr bool HAS_EQUAL_PAIRS = true;
  static constexpr bool HAS_EQUAL_RANKS = false;

  explicit AnyOrder(const Vocabulary &vocabulary) : vocabulary_(vocabulary) {}

  std::uint32_t symbol(std::uint8_t byte) const { return vocabulary_.byte_ids_[byte]; }
  std::uint32_t id(std::uint32_t symbol) const { return symbol; }
  Merged find(std::uint32_t left, std::uint32_t right) const {
    return vocabulary_.pairs_.find(left, right);
  }
  std::size_t width(std::uint32_t symbol) const {
    return symbol == NO_ID ? 1 : vocabulary_.tokens_[symbol].size;
  }
  bool is_valid_pair(std::uint32_t left, std::uint32_t right, std::size_t /*at*/) const {
    // NO_ID stands for a byte without a token, which merges with nothing.
    if (left == NO_ID || right == NO_ID)
      return true;
    const TokenView a = vocabulary_.tokens_[left];
    const TokenView b = vocabulary_.tokens_[right];
    std::vector<std::uint8_t> both(a.bytes, a.bytes + a.size);
    both.insert(both.end(), b.bytes, b.bytes + b.size);
    std::vector<std::uint32_t> symbols;
    merge_window(*this, both.data(), both.size(), symbols);
    return symbols.size() == 2 && symbols[0] == left && symbols[1] == right;
  }

private:
  const Vocabulary &vocabulary_;
};

std::size_t Vocabulary::merge(const std::uint8_t *bytes, std::size_t size,
                              std::uint32_t *to) const {
  if (size > ShortMerge::MAX_BYTES || !has_merge_table_) {
    if (characters_ != nullptr)
      return characters_->merge(bytes, size, to);
    return without_steps(to, in_order_ ? merge_ordered(bytes, size, to)
                                       : merge_in_any_order(bytes, size, to));
  }
  ShortMerge state;
  state.begin(bytes, size, merges_, barriers_);
  while (state.step(merges_)) {
  }
  return finish(to, state.symbols(merges_, to));
}

std::size_t Vocabulary::merge_ordered(const std::uint8_t *bytes, std::size_t size,
                                      std::uint32_t *to) const {
  return merge_windows(Ordered(*this), bytes, size, to);
}

std::size_t Vocabulary::merge_in_any_order(const std::uint8_t *bytes, std::size_t size,
                                           std::uint32_t *to) const {
  return merge_windows(AnyOrder(*this), bytes, size, to);
}

std::size_t Vocabulary::merge_some(const std::uint8_t *bytes, std::size_t size,
                                   Dropout &dropout, std::uint32_t *to) const {
  if (characters_ != nullptr)
    return characters_->merge_some(bytes, size, dropout, to);
  if (in_order_) {
    std::copy(bytes, bytes + size, to);
    const Ordered ordered(*this);
    const std::size_t count =
        dropout.merge(to, size, [&](std::uint32_t left, std::uint32_t right) {
          return ordered.find(left, right);
        });
    merges_.replace_by_ids(to, count);
    return count;
  }
  std::transform(bytes, bytes + size, to,
                 [this](std::uint8_t byte) { return byte_ids_[byte]; });
  return dropout.merge(to, size, [this](std::uint32_t left, std::uint32_t right) {
    return pairs_.find(left, right);
  });
}

std::size_t Vocabulary::replace_steps(std::uint32_t *ids, std::size_t count) const {
  std::size_t total = 0;
  for (std::size_t i = 0; i < count; ++i)
    total += ids[i] < first_step_ ? 1 : tokens_[ids[i]].size;
  // From the last id to the first, since the results take more room.
  std::uint32_t *to = ids + total;
  for (std::size_t i = count; i-- != 0;) {
    const std::uint32_t id = ids[i];
    if (id < first_step_) {
      *--to = id;
      continue;
    }
    const TokenView step = tokens_[id];
    for (std::size_t at = step.size; at-- != 0;)
      *--to = byte_ids_[step.bytes[at]];
  }
  return total;
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
  std::vector<PairTable::Entry> entries;
  for (const PairTable::Entry &entry : pairs_.entries())
    if (!entry.is_free())
      entries.push_back(entry);
  std::sort(entries.begin(), entries.end(),
            [](const auto &a, const auto &b) { return a.merged.rank < b.merged.rank; });
  result.reserve(entries.size());
  for (const PairTable::Entry &entry : entries)
    result.push_back({entry.left(), entry.right(), entry.merged.id});
  return result;
}

} // namespace pretok
