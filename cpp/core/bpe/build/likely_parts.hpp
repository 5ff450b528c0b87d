// The two tokens that each of a batch of tokens is likely made of.
#pragma once

#include "core/bpe/build/token_cuts.hpp"
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
class LikelyParts {
public:
  explicit LikelyParts(const OrderedMerges &merges)
      : merges_(merges), meetings_(TokenCuts::AT_ONCE * MAX_MEETINGS) {
    clear();
  }

  void clear() {
    count_ = 0;
    ends_[0] = meetings_.data();
  }

  // The parts of the next token, of at most AT_ONCE; or NO_PARTS.
  void add(Parts parts) {
    Meeting *to = ends_[count_];
    const Meeting *const most = to + MAX_MEETINGS;
    const auto put = [&](std::uint32_t left, std::uint32_t right, std::uint32_t until) {
      merges_.prefetch(left, right);
      *to++ = {left, right, until};
      return to != most;
    };
    if (are_known(parts) && put(parts.left, parts.right, OrderedMerges::NO_MERGE))
      merges_.for_meetings(parts.left, parts.right, put);
    parts_[count_] = to != most ? parts : NO_PARTS;
    ends_[++count_] = to;
  }

  // Those of the `which`th token, if they stay apart, or NO_PARTS.
  Parts sure(std::size_t which) const {
    for (const Meeting *at = ends_[which]; at != ends_[which + 1]; ++at)
      if (merges_.find(at->left, at->right) < at->until)
        return NO_PARTS;
    return parts_[which];
  }

private:
  static constexpr std::size_t MAX_MEETINGS = 64; // meetings of a token: few have more

  struct Meeting { // as for_meetings says
    std::uint32_t left;
    std::uint32_t right;
    std::uint32_t until;
  };

  const OrderedMerges &merges_;
  std::vector<Meeting> meetings_;
  std::array<Parts, TokenCuts::AT_ONCE> parts_;
  std::array<Meeting *, TokenCuts::AT_ONCE + 1> ends_;
  std::size_t count_ = 0;
};

} // namespace pretok
