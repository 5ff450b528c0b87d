// Stores the probable parts of each token of a batch, and verifies them. The parts of a token
// are the two symbols that a merge joins to make the token.
#pragma once

#include "core/bpe/build/token_splits.hpp"
#include "core/bpe/ordered_merges.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

using Parts = OrderedMerges::Parts;
inline constexpr Parts NO_PARTS{OrderedMerges::NO_MERGE, OrderedMerges::NO_MERGE};

inline bool are_known(Parts parts) {
  return parts.left != OrderedMerges::NO_MERGE && parts.right != OrderedMerges::NO_MERGE;
}

// Call `add` for each token of the batch, then `confirmed`: `add` prefetches the memory that
// `confirmed` reads.
class SplitCandidates {
public:
  explicit SplitCandidates(const OrderedMerges &merges)
      : merges_(merges), boundary_pairs_(TokenSplits::BATCH_SIZE * MAX_BOUNDARY_PAIRS) {
    clear();
  }

  void clear() {
    count_ = 0;
    ends_[0] = boundary_pairs_.data();
  }

  // Adds the next token of the batch: its probable parts, or NO_PARTS. A batch has at most
  // BATCH_SIZE tokens.
  void add(Parts parts) {
    BoundaryPair *to = ends_[count_];
    const BoundaryPair *const most = to + MAX_BOUNDARY_PAIRS;
    // Returns whether there is room for another boundary pair.
    const auto put = [&](std::uint32_t left, std::uint32_t right, std::uint32_t deadline) {
      merges_.prefetch(left, right);
      *to++ = {left, right, deadline};
      return to != most;
    };
    if (are_known(parts) && put(parts.left, parts.right, OrderedMerges::NO_MERGE))
      merges_.for_boundary_pairs(parts.left, parts.right, put);
    parts_[count_] = to != most ? parts : NO_PARTS;
    ends_[++count_] = to;
  }

  // Returns the parts of token `index` of the batch, or NO_PARTS if they are not valid. The
  // parts are valid if no earlier token has the same parts, and if no boundary pair merges
  // before its deadline. Tokens of this batch count only if their merges have been added.
  Parts confirmed(std::size_t index) const {
    for (const BoundaryPair *at = ends_[index]; at != ends_[index + 1]; ++at)
      if (merges_.find(at->left, at->right) < at->deadline)
        return NO_PARTS;
    return parts_[index];
  }

private:
  // `confirmed` returns NO_PARTS for a token with this many boundary pairs or more, even if its
  // parts are valid. Few tokens have so many. Callers find their parts in a slower way.
  static constexpr std::size_t MAX_BOUNDARY_PAIRS = 64;

  // Two symbols that are neighbors at the boundary between the parts, while merging makes the
  // parts (OrderedMerges::for_boundary_pairs). The first pair is the parts themselves. If
  // `left` and `right` merge before `deadline`, the parts are not valid.
  struct BoundaryPair {
    std::uint32_t left;
    std::uint32_t right;
    std::uint32_t deadline;
  };

  const OrderedMerges &merges_;
  std::vector<BoundaryPair> boundary_pairs_;
  std::array<Parts, TokenSplits::BATCH_SIZE> parts_;
  std::array<BoundaryPair *, TokenSplits::BATCH_SIZE + 1> ends_;
  std::size_t count_ = 0;
};

} // namespace pretok
