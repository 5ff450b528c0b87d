// Merging short pre-tokens, several in turn.
//
// A merge is a chain of steps that wait for each other: find the lowest rank, merge there, look
// up what the new symbol merges into with its neighbours. With the steps of other pre-tokens to
// do meanwhile the processor need not wait, if no step has a branch that it would have to
// guess, and if what a step looks up is asked for when the step before ends.
#pragma once

#include "bits.hpp"
#include "char_joints.hpp"
#include "ordered_merges.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

// One pre-token while it is merged.
class ShortMerge {
public:
  static constexpr std::size_t MOST = 64; // bytes

  // `size` is from 1 to MOST.
  void begin(const std::uint8_t *bytes, std::size_t size, const OrderedMerges &merges,
             const CharJoints &joints) {
    if (is_ascii(bytes, size)) {
      for (std::size_t i = 0; i < size; ++i)
        symbols_[i] = bytes[i];
      for (std::size_t i = 0; i + 1 < size; ++i)
        keys_[i] = key(merges.of_bytes(bytes[i], bytes[i + 1]), static_cast<unsigned>(i));
    } else {
      size = joints.begin_merge(bytes, size, symbols_.data());
      for (std::size_t i = 0; i + 1 < size; ++i)
        keys_[i] = key(merges.find(symbols_[i], symbols_[i + 1]), static_cast<unsigned>(i));
    }
    blocks_ = (size + BLOCK - 1) / BLOCK;
    for (std::size_t i = size - 1; i < blocks_ * BLOCK; ++i)
      keys_[i] = NO_KEY;
    there_ = ~std::uint64_t{0} >> (MOST - size);
    at_ = next_ = last_ = MOST; // where nothing comes of it
    symbols_[MOST] = 0;
    before_ = behind_ = merges.places_of(0, 0);
  }

  // Merges the two with the lowest rank, of equal ones the leftmost; returns false if there are
  // none.
  bool step(const OrderedMerges &merges) {
    // Where there is no neighbour, at_ stands in for it.
    const std::uint32_t with_last =
        select(last_ != at_, key(OrderedMerges::find(before_), last_), NO_KEY);
    const std::uint32_t with_next =
        select(next_ != at_, key(OrderedMerges::find(behind_), at_), NO_KEY);
    // Not by way of memory, which is slow to read in other pieces than it was written in.
    const std::uint32_t low = std::min(lowest(), std::min(with_last, with_next));
    keys_[last_] = with_last;
    keys_[at_] = with_next;
    const std::uint32_t symbol = low >> PLACE_BITS;
    if (symbol >= OrderedMerges::NONE)
      return false;
    constexpr std::uint64_t ONE = 1;
    at_ = low & (MOST - 1);
    const std::uint64_t up_to_at = ~std::uint64_t{0} >> (MOST - 1 - at_);
    const unsigned gone = lowest_bit(there_ & ~up_to_at);
    const std::uint64_t there = there_ & ~(ONE << gone);
    there_ = there;
    symbols_[at_] = symbol;
    const std::uint64_t behind = there & ~up_to_at;
    next_ = select(behind != 0, lowest_bit(behind | ONE << (MOST - 1)), at_);
    const std::uint64_t before = there & (up_to_at >> 1);
    last_ = select(before != 0, highest_bit(before | 1), at_);
    keys_[gone] = keys_[at_] = keys_[last_] = NO_KEY;
    before_ = merges.places_of(symbols_[last_], symbol);
    behind_ = merges.places_of(symbol, symbols_[next_]);
    OrderedMerges::prefetch(before_);
    OrderedMerges::prefetch(behind_);
    return true;
  }

  // Writes the ids to `to`, returns how many.
  std::size_t finish(const OrderedMerges &merges, std::uint32_t *to) const {
    std::size_t count = 0;
    for (std::uint64_t left = there_; left != 0; left &= left - 1)
      to[count++] = merges.id(symbols_[lowest_bit(left)]);
    return count;
  }

private:
  static constexpr unsigned PLACE_BITS = 6;
  static constexpr std::size_t BLOCK = 16;
  // More than each other, also as a signed number, which is what SSE2 compares.
  static constexpr std::uint32_t NO_KEY = 0x7FFFFFFF;

  // Orders by rank, then by place.
  static std::uint32_t key(std::uint32_t symbol, unsigned place) {
    return symbol << PLACE_BITS | place;
  }

  std::uint32_t lowest() const {
#if PRETOK_SSE2
    const auto load = [this](std::size_t at) {
      return _mm_load_si128(reinterpret_cast<const __m128i *>(keys_.data() + at));
    };
    const auto least = [](__m128i a, __m128i b) {
      const __m128i less = _mm_cmplt_epi32(b, a);
      return _mm_or_si128(_mm_and_si128(less, b), _mm_andnot_si128(less, a));
    };
    const auto least_of_block = [&](std::size_t at) {
      return least(least(load(at), load(at + 4)), least(load(at + 8), load(at + 12)));
    };
    __m128i low = least_of_block(0);
    for (std::size_t block = 1; block < blocks_; ++block)
      low = least(low, least_of_block(block * BLOCK));
    low = least(low, _mm_shuffle_epi32(low, 0x4E));
    low = least(low, _mm_shuffle_epi32(low, 0xB1));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(low));
#else
    std::uint32_t low = keys_[0];
    for (std::size_t at = 1; at < blocks_ * BLOCK; ++at)
      low = keys_[at] < low ? keys_[at] : low;
    return low;
#endif
  }

  alignas(16) std::array<std::uint32_t, MOST + 4> keys_;
  std::array<std::uint32_t, MOST + 1> symbols_;
  std::uint64_t there_; // places that have not been merged into the one before
  std::size_t blocks_;  // of keys that are in use
  // Where the last step merged, and the neighbours there: what these merge into is still to be
  // looked up.
  unsigned at_;
  unsigned next_;
  unsigned last_;
  OrderedMerges::Places before_;
  OrderedMerges::Places behind_;
};

// Merges pre-tokens of at most ShortMerge::MOST bytes: next(bytes, size) gives one, or returns
// false if there are no more, and done(which, merge) takes each as soon as it is ready, `which`
// counting from 0 in the order in which they were given.
template <typename Next, typename Done>
void merge_in_turn(const OrderedMerges &merges, const CharJoints &joints, Next next,
                   Done done) {
  constexpr std::size_t AT_ONCE = 8;
  std::array<ShortMerge, AT_ONCE> states;
  std::array<std::size_t, AT_ONCE> which;  // by state
  std::array<std::size_t, AT_ONCE> active; // states
  std::size_t count = 0;
  std::size_t given = 0;
  const auto begin = [&](std::size_t state) {
    const std::uint8_t *bytes = nullptr;
    std::size_t size = 0;
    if (!next(bytes, size))
      return false;
    states[state].begin(bytes, size, merges, joints);
    which[state] = given++;
    return true;
  };
  while (count < AT_ONCE && begin(count)) {
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
