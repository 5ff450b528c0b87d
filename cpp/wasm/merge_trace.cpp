// Traces the merges that make the tokens of one pre-token.
#include "capi/handles.hpp"
#include "wasm/results.hpp"

#include <algorithm>

namespace pretok {
namespace {

// The rank of a pair that no merge joins.
constexpr std::uint32_t NO_STEP = 0xFFFFFFFF;

// Returns whether a byte of UTF-8 begins a character.
bool is_lead(std::uint8_t byte) { return (byte & 0xC0) != 0x80; }

// A token that takes part in merging, and the offset of its first byte.
struct Symbol {
  std::uint32_t id;
  std::uint32_t start;
};

// Returns the symbols that merging begins with: bytes, or characters if the model merges
// characters.
std::vector<Symbol> first_symbols(const Vocabulary &vocabulary, const std::uint8_t *bytes,
                                  std::size_t size) {
  std::vector<Symbol> symbols;
  std::size_t end = 0;
  for (std::size_t start = 0; start < size; start = end) {
    end = start + 1;
    while (vocabulary.has_steps() && end < size && end < start + 4 && !is_lead(bytes[end]))
      ++end;
    std::uint32_t ids[4];
    const std::size_t count = vocabulary.merge(bytes + start, end - start, ids);
    // A character without a token becomes a token for each of its bytes.
    for (std::size_t i = 0; i < count; ++i)
      symbols.push_back({ids[i], static_cast<std::uint32_t>(start + i)});
  }
  return symbols;
}

// Looks up the merges of a vocabulary by the ids of their left and right tokens.
class MergeRanks {
public:
  explicit MergeRanks(const Vocabulary &vocabulary) : merges_(vocabulary.merges()) {
    order_.resize(merges_.size());
    for (std::size_t i = 0; i < order_.size(); ++i)
      order_[i] = static_cast<std::uint32_t>(i);
    std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
      return pair(merges_[a].left, merges_[a].right) < pair(merges_[b].left, merges_[b].right);
    });
  }

  const Merge &merge(std::uint32_t rank) const { return merges_[rank]; }

  // Returns the number of merges whose result is a single character or a part of one. These
  // merges have the lowest ranks.
  std::size_t character_merges(const Vocabulary &vocabulary) const {
    const auto is_longer = [&](const Merge &merge) {
      const TokenView token = vocabulary.token(merge.id);
      return std::count_if(token.bytes, token.bytes + token.size, is_lead) > 1;
    };
    return static_cast<std::size_t>(std::find_if(merges_.begin(), merges_.end(), is_longer) -
                                    merges_.begin());
  }

  // Returns the rank of the merge of `left` and `right`, or NO_STEP.
  std::uint32_t find(std::uint32_t left, std::uint32_t right) const {
    const auto at =
        std::lower_bound(order_.begin(), order_.end(), pair(left, right),
                         [this](std::uint32_t rank, auto wanted) {
                           return pair(merges_[rank].left, merges_[rank].right) < wanted;
                         });
    if (at == order_.end() || merges_[*at].left != left || merges_[*at].right != right)
      return NO_STEP;
    return *at;
  }

private:
  static std::uint64_t pair(std::uint32_t left, std::uint32_t right) {
    return std::uint64_t{left} << 32 | right;
  }

  std::vector<Merge> merges_;        // by rank
  std::vector<std::uint32_t> order_; // the ranks, sorted by the pairs of the merges
};

} // namespace
} // namespace pretok

using namespace pretok;

// Returns a new MergeRanks for pretok_wasm_merge_steps.
PRETOK_WASM(pretok_wasm_merges_new)
MergeRanks *pretok_wasm_merges_new(const pretok_tokenizer *tokenizer) {
  return new MergeRanks(tokenizer->core->vocabulary());
}

PRETOK_WASM(pretok_wasm_merges_free)
void pretok_wasm_merges_free(MergeRanks *ranks) { delete ranks; }

// Traces the merges of one pre-token, in O(size^2) time:
//   - result 0: the offsets of the first symbols;
//   - result 1: the left id, right id, resulting id and rank of each merge, and the index of
//     its left symbol. If the model merges characters, rank 0 is the first merge after the
//     merges that character_merges() counts;
//   - result 2: the ids of the pre-token.
PRETOK_WASM(pretok_wasm_merge_steps)
void pretok_wasm_merge_steps(const pretok_tokenizer *tokenizer, const MergeRanks *ranks,
                             const std::uint8_t *bytes, std::size_t size) {
  const Vocabulary &vocabulary = tokenizer->core->vocabulary();
  std::vector<Symbol> symbols = first_symbols(vocabulary, bytes, size);
  results[0].clear();
  results[1].clear();
  for (const Symbol &symbol : symbols)
    results[0].push_back(symbol.start);
  // found[i] is the rank of the merge of symbols i and i + 1.
  std::vector<std::uint32_t> found(symbols.size(), NO_STEP);
  const auto look_up = [&](std::size_t at) {
    found[at] =
        at + 1 < symbols.size() ? ranks->find(symbols[at].id, symbols[at + 1].id) : NO_STEP;
  };
  for (std::size_t at = 0; at < symbols.size(); ++at)
    look_up(at);
  const std::size_t hidden = vocabulary.has_steps() ? ranks->character_merges(vocabulary) : 0;
  while (!found.empty()) {
    const auto lowest = std::min_element(found.begin(), found.end());
    if (*lowest == NO_STEP)
      break;
    const auto at = lowest - found.begin();
    const auto place = static_cast<std::size_t>(at);
    const Merge &merge = ranks->merge(*lowest);
    results[1].insert(results[1].end(), {merge.left, merge.right, merge.id,
                                         static_cast<std::uint32_t>(*lowest - hidden),
                                         static_cast<std::uint32_t>(place)});
    symbols[place].id = merge.id;
    symbols.erase(symbols.begin() + at + 1);
    found.erase(found.begin() + at + 1);
    look_up(place);
    if (place != 0)
      look_up(place - 1);
  }
  results[2].resize(size);
  if (size != 0)
    results[2].resize(vocabulary.encode(bytes, size, bytes + size, results[2].data()));
}
