#include "core/bpe/rank_merge.hpp"

#include "core/base/ids.hpp"
#include "core/bpe/merge_ranges.hpp"

#include <algorithm>

namespace pretok {

// Calls emit(id, range) for each token.
template <typename Emit>
void RankMerge::merge_each(const std::uint8_t *bytes, std::size_t size, Emit emit) const {
  const auto id_of = [&](UnitRange range) {
    return tokens_.find(bytes + range.start, range.end - range.start, bytes + size);
  };
  // A pre-token that is a token needs no merging.
  const UnitRange all{0, size};
  const std::uint32_t whole = id_of(all);
  if (whole != NO_ID)
    return emit(whole, all);
  const auto rank_of = [&](UnitRange range) { return std::min(id_of(range), NO_RANK); };
  merge_ranges(size, rank_of, [&](UnitRange range) { emit(id_of(range), range); });
}

std::size_t RankMerge::merge(const std::uint8_t *bytes, std::size_t size,
                             std::uint32_t *to) const {
  std::uint32_t *const first = to;
  merge_each(bytes, size, [&to](std::uint32_t id, UnitRange /*range*/) { *to++ = id; });
  return static_cast<std::size_t>(to - first);
}

void RankMerge::spans(const std::uint8_t *bytes, std::size_t size,
                      std::vector<Span> &result) const {
  result.clear();
  merge_each(bytes, size, [&result](std::uint32_t id, UnitRange range) {
    result.push_back({id, range.start, range.end});
  });
}

} // namespace pretok
