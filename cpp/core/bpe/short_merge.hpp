// Merges several short pre-tokens at once, by interleaving their steps.
//
// The steps of one merge depend on each other: find the lowest rank, merge there, look up the
// new symbol with its neighbors. Interleaving the steps of several pre-tokens hides the latency
// of each step. For this, a step has no unpredictable branches, and prefetches the buckets that
// the next step of its pre-token reads.
#pragma once

#include "core/base/bits.hpp"
#include "core/bpe/merge_barriers.hpp"
#include "core/bpe/ordered_merges.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

// The state of merging one pre-token. Its symbols are in positions 1 to size. With a sentinel
// at each end, no step needs to check whether a neighbor exists. `keys_` has one key for each
// position:
//
//   31      28           6 5            0
//  +-+-----------------------+-----------+
//  |0|  symbol of the merge  | position  |    the lowest key is the next merge
//  +-+-----------------------+-----------+
//
// A merge writes its symbol to the left position, and clears the bit of the right position in
// `live_`. So the nearest bits of `live_` that are 1 give the neighbors of a position.
class ShortMerge {
public:
  static constexpr std::size_t MAX_BYTES = 62; // 64 positions, of which two hold the sentinels

  // `size` is from 1 to MAX_BYTES.
  void begin(const std::uint8_t *bytes, std::size_t size, const OrderedMerges &merges,
             const MergeBarriers &barriers) {
    if (is_ascii(bytes, size)) {
      for (std::size_t i = 0; i < size; ++i)
        symbols_[i + 1] = bytes[i];
      for (std::size_t i = 0; i + 1 < size; ++i)
        keys_[i + 1] = key(merges.of_bytes(bytes[i], bytes[i + 1]), i + 1);
    } else {
      size = barriers.begin_merge(bytes, size, symbols_.data() + 1);
      for (std::size_t i = 1; i < size; ++i)
        keys_[i] = key(merges.find(symbols_[i], symbols_[i + 1]), i);
    }
    symbols_[FRONT] = symbols_[BACK] = OrderedMerges::NO_SYMBOL;
    blocks_ = size / BLOCK + 1;
    keys_[FRONT] = NO_KEY;
    for (std::size_t i = size; i < blocks_ * BLOCK; ++i)
      keys_[i] = NO_KEY;
    live_ = ((std::uint64_t{2} << size) - 1) | std::uint64_t{1} << BACK;
    at_ = left_ = FRONT; // the first step looks up two sentinels, which never merge
    left_buckets_ = right_buckets_ =
        merges.buckets_of(OrderedMerges::NO_SYMBOL, OrderedMerges::NO_SYMBOL);
  }

  // Merges the two neighbors with the lowest rank, the leftmost of equal ranks. Returns false
  // if no neighbors merge.
  bool step(const OrderedMerges &merges) {
    const std::uint32_t with_left = key(OrderedMerges::find(left_buckets_), left_);
    const std::uint32_t with_right = key(OrderedMerges::find(right_buckets_), at_);
    // The new keys stay in registers: reading them as vectors right after narrow writes would
    // stall store forwarding.
    const std::uint32_t low = least(lowest(), least(with_left, with_right));
    keys_[left_] = with_left;
    keys_[at_] = with_right;
    const std::uint32_t symbol = low >> PLACE_BITS;
    if (symbol >= OrderedMerges::NO_MERGE)
      return false;
    const unsigned at = low & BACK;
    constexpr std::uint64_t ONE = 1;
    const std::uint64_t after_mask = ~ONE << at; // all positions after `at`
    const unsigned absorbed = lowest_bit(live_ & after_mask);
    live_ &= ~(ONE << absorbed);
    const unsigned next = lowest_bit(live_ & after_mask);
    const unsigned left = highest_bit(live_ & ((ONE << at) - 1));
    symbols_[at] = symbol;
    keys_[absorbed] = keys_[at] = keys_[left] = NO_KEY;
    left_buckets_ = merges.buckets_of(symbols_[left], symbol);
    right_buckets_ = merges.buckets_of(symbol, symbols_[next]);
    OrderedMerges::prefetch(left_buckets_);
    OrderedMerges::prefetch(right_buckets_);
    at_ = at;
    left_ = left;
    return true;
  }

  // Writes the remaining symbols to `to`, and prefetches their ids. Returns their number.
  std::size_t symbols(const OrderedMerges &merges, std::uint32_t *to) const {
    std::size_t count = 0;
    constexpr std::uint64_t ENDS = std::uint64_t{1} << BACK | std::uint64_t{1} << FRONT;
    for (std::uint64_t left = live_ & ~ENDS; left != 0; left &= left - 1) {
      const std::uint32_t symbol = symbols_[lowest_bit(left)];
      merges.prefetch_id(symbol);
      to[count++] = symbol;
    }
    return count;
  }

private:
  static constexpr unsigned PLACE_BITS = 6;
  static constexpr unsigned FRONT = 0;
  static constexpr unsigned BACK = (1U << PLACE_BITS) - 1;
  static constexpr std::size_t BLOCK = 16;
  // Larger than every other key, also as a signed number: SSE2 compares signed numbers.
  static constexpr std::uint32_t NO_KEY = 0x7FFFFFFF;

  // Returns the entry of `keys_` for a merge. Keys compare by rank, then by position.
  static std::uint32_t key(std::uint32_t symbol, std::size_t place) {
    return symbol << PLACE_BITS | static_cast<std::uint32_t>(place);
  }

  // Replaces std::min, for which GCC selects an address and reloads the value from memory.
  static std::uint32_t least(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

  // Returns the lowest key.
  std::uint32_t lowest() const {
#if PRETOK_SSE2
    const auto load = [this](std::size_t at) {
      return _mm_load_si128(reinterpret_cast<const __m128i *>(keys_.data() + at));
    };
    const auto least_of_block = [&](std::size_t at) {
      return least_sse2(least_sse2(load(at), load(at + 4)),
                        least_sse2(load(at + 8), load(at + 12)));
    };
    __m128i low = least_of_block(0);
    for (std::size_t block = 1; block < blocks_; ++block)
      low = least_sse2(low, least_of_block(block * BLOCK));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(least_of_four_sse2(low)));
#else
    std::uint32_t low = keys_[0];
    for (std::size_t at = 1; at < blocks_ * BLOCK; ++at)
      low = keys_[at] < low ? keys_[at] : low;
    return low;
#endif
  }

  // For each position, the key of the merge of its symbol with the next symbol. If there is no
  // such merge, NO_KEY or a key of NO_MERGE, which both compare greater than all merges.
  alignas(16) std::array<std::uint32_t, BACK + 1> keys_;
  std::array<std::uint32_t, BACK + 1> symbols_;
  std::uint64_t live_; // a bit per position that still holds a symbol
  std::size_t blocks_; // blocks of `keys_` in use
  // The position of the last merge, and the position of the symbol to its left. The next step
  // looks up the new symbol with both neighbors, and sets the keys of these two positions.
  unsigned at_;
  unsigned left_;
  OrderedMerges::Buckets left_buckets_;
  OrderedMerges::Buckets right_buckets_;
};

// Merges pre-tokens of at most ShortMerge::MAX_BYTES bytes. Interleaves the steps of MAX_ACTIVE
// pre-tokens. next(bytes, size) supplies a pre-token, or returns false if there are no more.
// done(which, merge) receives each result as soon as it is ready. `which` numbers the
// pre-tokens from 0 in the order in which next supplied them.
template <typename Next, typename Done>
void merge_interleaved(const OrderedMerges &merges, const MergeBarriers &barriers, Next next,
                       Done done) {
  constexpr std::size_t MAX_ACTIVE = 8;
  std::array<ShortMerge, MAX_ACTIVE> states;
  std::array<std::size_t, MAX_ACTIVE> which;  // by state: the number of its pre-token
  std::array<std::size_t, MAX_ACTIVE> active; // the states in use
  std::size_t count = 0;
  std::size_t started = 0;
  // Starts the next pre-token in states[state]. Returns false if there are no more.
  const auto begin = [&](std::size_t state) {
    const std::uint8_t *bytes = nullptr;
    std::size_t size = 0;
    if (!next(bytes, size))
      return false;
    states[state].begin(bytes, size, merges, barriers);
    which[state] = started++;
    return true;
  };
  while (count < MAX_ACTIVE && begin(count)) {
    active[count] = count;
    ++count;
  }
  while (count != 0)
    for (std::size_t i = 0; i < count;) {
      const std::size_t state = active[i];
      if (states[state].step(merges)) {
        ++i;
        continue;
      }
      done(which[state], states[state]);
      if (begin(state))
        ++i;
      else
        active[i] = active[--count];
    }
}

} // namespace pretok
