// The two tokens that each of a batch of tokens is likely made of.
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

// What some tokens are likely made of. To see whether it is so takes many looks: their memory
// is asked for when parts are added.
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

  // The parts of the next token, of at most BATCH_SIZE; or NO_PARTS.
  void add(Parts parts) {
    BoundaryPair *to = ends_[count_];
    const BoundaryPair *const most = to + MAX_BOUNDARY_PAIRS;
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

  // Those of the `index`th token, if they stay apart, or NO_PARTS.
  Parts confirmed(std::size_t index) const {
    for (const BoundaryPair *at = ends_[index]; at != ends_[index + 1]; ++at)
      if (merges_.find(at->left, at->right) < at->deadline)
        return NO_PARTS;
    return parts_[index];
  }

private:
  static constexpr std::size_t MAX_BOUNDARY_PAIRS = 64; // meetings of a token: few have more

  struct BoundaryPair { // as for_boundary_pairs says
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
