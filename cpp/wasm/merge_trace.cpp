// The merges that make the tokens of one pre-token, one by one.
#include "capi/handles.hpp"
#include "wasm/results.hpp"

#include <algorithm>

namespace pretok {
namespace {

constexpr std::uint32_t NO_STEP = 0xFFFFFFFF;

// The merges of a vocabulary, to look up by their two parts.
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

  // Returns the rank of a merge, or NO_STEP.
  std::uint32_t find(std::uint32_t left, std::uint32_t right) const {
    const auto at = std::lower_bound(
        order_.begin(), order_.end(), pair(left, right), [this](std::uint32_t rank, auto wanted) {
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
  std::vector<std::uint32_t> order_; // the ranks, in order of the pairs
};

} // namespace
} // namespace pretok

using namespace pretok;

// Returns a new MergeRanks for pretok_wasm_merge_steps.
PRETOK_WASM(pretok_wasm_merges_new)
MergeRanks *pretok_wasm_merges_new(const pretok_tokenizer *tokenizer) {
  return new MergeRanks(tokenizer->vocabulary);
}

PRETOK_WASM(pretok_wasm_merges_free)
void pretok_wasm_merges_free(MergeRanks *ranks) { delete ranks; }

// Result 0: the ids of the single bytes. Result 1: left, right, id, rank and place of each
// merge. Result 2: the ids of the pre-token. O(size^2).
PRETOK_WASM(pretok_wasm_merge_steps)
void pretok_wasm_merge_steps(const pretok_tokenizer *tokenizer, const MergeRanks *ranks,
                             const std::uint8_t *bytes, std::size_t size) {
  const Vocabulary &vocabulary = tokenizer->vocabulary;
  std::vector<std::uint32_t> symbols(size);
  for (std::size_t i = 0; i < size; ++i)
    vocabulary.merge(bytes + i, 1, &symbols[i]);
  results[0] = symbols;
  results[1].clear();
  std::vector<std::uint32_t> found(size, NO_STEP); // the rank of each symbol and the next one
  const auto look_up = [&](std::size_t at) {
    found[at] = at + 1 < symbols.size() ? ranks->find(symbols[at], symbols[at + 1]) : NO_STEP;
  };
  for (std::size_t at = 0; at < size; ++at)
    look_up(at);
  while (!found.empty()) {
    const auto lowest = std::min_element(found.begin(), found.end());
    if (*lowest == NO_STEP)
      break;
    const auto at = static_cast<std::size_t>(lowest - found.begin());
    const Merge &merge = ranks->merge(*lowest);
    results[1].insert(results[1].end(), {merge.left, merge.right, merge.id, *lowest,
                                         static_cast<std::uint32_t>(at)});
    symbols[at] = merge.id;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    found.erase(found.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    look_up(at);
    if (at != 0)
      look_up(at - 1);
  }
  results[2].resize(size);
  if (size != 0)
    results[2].resize(vocabulary.encode(bytes, size, bytes + size, results[2].data()));
}
