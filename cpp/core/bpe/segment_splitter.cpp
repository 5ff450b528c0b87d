#include "core/bpe/segment_splitter.hpp"

#include "core/base/bits.hpp"

#include <algorithm>

namespace pretok {

std::size_t SegmentSplitter::next(std::size_t *ends) {
  std::size_t count = 0;
  while (count == 0 && at_ < size_) {
    const std::size_t stop = std::min(at_ + 64 * WORDS, size_);
    if (!next_by_words(stop, ends, count))
      count = next_by_characters(stop, ends);
  }
  if (at_ == size_) {
    ends[count++] = size_;
    ++at_; // the next call returns 0
  }
  return count;
}

bool SegmentSplitter::next_by_words(std::size_t stop, std::size_t *ends, std::size_t &count) {
  if (use_.find_absent_pairs == nullptr)
    return false;
  const std::size_t taken = stop - at_;
  const std::size_t words = (taken + 63) / 64;
  Words barriers; // not initialized, like `beyond`
  Words beyond;
  const std::size_t count_beyond = use_.find_absent_pairs(
      barriers_.ascii_pairs_, text_ + at_, taken, barriers.data(), beyond.data());
  if (count_beyond > taken / 4)
    return false;
  if (count_beyond != 0 || text_[at_ - 1] >= 0x80)
    add_barriers_beyond_ascii(beyond, words, barriers);
  count = use_.bits_to_positions(barriers.data(), words, at_, nullptr, ends);
  at_ = stop;
  return true;
}

std::size_t SegmentSplitter::next_by_characters(std::size_t stop, std::size_t *ends) {
  std::size_t count = 0;
  std::size_t at = std::max(at_, left_end_);
  std::uint32_t left = at == left_end_ ? left_ : text_[at - 1];
  while (at < stop) {
    // Branchless, since barriers are unpredictable: each position is written to `ends`, but
    // `count` advances only at a barrier.
    for (; left < 0x80 && at < stop && text_[at] < 0x80; ++at) {
      ends[count] = at;
      count += barriers_.ascii_pairs_.has(left, text_[at]) ? 0 : 1;
      left = text_[at];
    }
    if (at < stop) {
      const MergeBarriers::DecodedChar right = barriers_.char_at(text_ + at, size_ - at);
      ends[count] = at;
      count += barriers_.may_merge_across(left, right.index) ? 0 : 1;
      at += right.width;
      left = right.index;
    }
  }
  at_ = left_end_ = at;
  left_ = left;
  return count;
}

void SegmentSplitter::add_barriers_beyond_ascii(const Words &beyond, std::size_t count,
                                                Words &barriers) {
  std::uint64_t before = text_[at_ - 1] >> 7;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t start = at_ + 64 * i;
    // The boundaries before and after bytes outside ASCII.
    std::uint64_t rest = beyond[i] | beyond[i] << 1 | before;
    before = beyond[i] >> 63;
    while (rest != 0) {
      const unsigned bit = lowest_bit(rest);
      rest &= rest - 1;
      const std::size_t at = start + bit;
      if (at < left_end_ || at >= size_)
        continue;
      const std::uint32_t left = at == left_end_ ? left_ : text_[at - 1];
      const MergeBarriers::DecodedChar right = barriers_.char_at(text_ + at, size_ - at);
      barriers[i] |= std::uint64_t{barriers_.may_merge_across(left, right.index) ? 0U : 1U}
                     << bit;
      left_ = right.index;
      left_end_ = at + right.width;
      // Skip the continuation bytes. The next character begins at `left_end_`.
      const std::size_t width = left_end_ - start;
      rest &= width < 64 ? ~std::uint64_t{0} << width : 0;
    }
  }
}

} // namespace pretok
