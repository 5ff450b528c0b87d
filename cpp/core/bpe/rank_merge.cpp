#include "core/bpe/rank_merge.hpp"

#include "core/base/ids.hpp"
#include "core/bpe/merge_ranges.hpp"

#include <algorithm>

namespace pretok {

void RankMerge::spans(const std::uint8_t *bytes, std::size_t size,
                      std::vector<Span> &result) const {
  const auto id_of = [&](UnitRange range) {
    return tokens_.find(bytes + range.start, range.end - range.start, bytes + size);
  };
  const auto rank_of = [&](UnitRange range) { return std::min(id_of(range), NO_RANK); };
  const auto emit = [&](UnitRange range) {
    result.push_back({id_of(range), range.start, range.end});
  };
  result.clear();
  const UnitRange whole{0, size};
  if (id_of(whole) != NO_ID)
    return emit(whole); // a pre-token that is a token needs no merging
  merge_ranges(size, rank_of, emit);
}

} // namespace pretok
