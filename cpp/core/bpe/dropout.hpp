// BPE dropout: merges the symbols of pre-tokens while some merges are left out at random
// (Provilkov et al. 2020). bpe/encoding/dropout.py explains the loop, and does the same.
#pragma once

#include "core/base/ids.hpp"
#include "core/bpe/pair_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace pretok {

struct DropoutOptions {
  double probability = 0; // from 0 to 1
  std::uint64_t seed = 0;
};

// The random draws for a text, and the memory in which its pre-tokens merge.
class Dropout {
public:
  explicit Dropout(const DropoutOptions &options)
      // Exact: the product is a double without a rest.
      : limit_(static_cast<std::uint64_t>(
            std::ceil(options.probability * (std::uint64_t{1} << DRAW_BITS)))),
        seed_(mixed(options.seed)) {}

  // Begins the draws for a text. `index` is the index of the text in its batch.
  void begin(std::uint64_t index) { state_ = mixed(seed_ + index); }

  // Returns true with the probability of the options.
  bool is_left_out() {
    state_ += STEP;
    return mixed(state_) >> (64 - DRAW_BITS) < limit_;
  }

  // Merges `size` symbols in place, and returns the number of symbols that remain. find(left,
  // right) returns a Merged, and join(left, right, id) the symbol of its id. O(size * log(size)
  // / (1 - probability)) time if the probability is below 1.
  template <typename Symbol, typename Find, typename Join>
  std::size_t merge(Symbol *symbols, std::size_t size, Find find, Join join) {
    if (size >= NO_PLACE)
      throw std::length_error("expected a pre-token of fewer than 2^32 - 1 symbols");
    const auto end = static_cast<std::uint32_t>(size);
    places_.resize(size);
    queue_.clear();
    left_out_.clear();
    for (std::uint32_t at = 0; at < end; ++at) {
      places_[at] = {at - 1, at + 1, {NO_RANK, NO_ID}}; // at - 1 is NO_PLACE for the first one
      if (at + 1 < end)
        look_up(at, find(symbols[at], symbols[at + 1]));
    }
    while (!queue_.empty()) {
      const Candidate top = pop();
      if (is_left_out()) {
        left_out_.push_back(top);
        continue;
      }
      for (const Candidate &candidate : left_out_)
        push(candidate);
      left_out_.clear();
      const auto at = static_cast<std::uint32_t>(top.key);
      Place &place = places_[at];
      if (place.merged.rank == NO_RANK || place.merged.id != top.id)
        continue; // stale
      const std::uint32_t absorbed = place.after;
      symbols[at] = join(symbols[at], symbols[absorbed], top.id);
      place.after = places_[absorbed].after;
      places_[absorbed] = {NO_PLACE, NO_PLACE, {NO_RANK, NO_ID}};
      place.merged = {NO_RANK, NO_ID};
      if (place.before != NO_PLACE)
        look_up(place.before, find(symbols[place.before], symbols[at]));
      if (place.after < end) {
        places_[place.after].before = at;
        look_up(at, find(symbols[at], symbols[place.after]));
      }
    }
    std::size_t kept = 0;
    for (std::uint32_t at = 0; at < end; at = places_[at].after)
      symbols[kept++] = symbols[at];
    return kept;
  }

  // Does the same for symbols that are ids.
  template <typename Find> std::size_t merge(std::uint32_t *ids, std::size_t size, Find find) {
    return merge(ids, size, find,
                 [](std::uint32_t, std::uint32_t, std::uint32_t id) { return id; });
  }

private:
  static constexpr unsigned DRAW_BITS = 53;
  static constexpr std::uint64_t STEP = 0x9E3779B97F4A7C15;
  static constexpr std::uint32_t NO_PLACE = 0xFFFFFFFF;

  // A symbol, its neighbors, and its merge with the next symbol.
  struct Place {
    std::uint32_t before; // or NO_PLACE
    std::uint32_t after;  // or the number of symbols
    Merged merged;
  };
  struct Candidate {
    Candidate(std::uint32_t at, Merged merged)
        : key(std::uint64_t{merged.rank} << 32 | at), id(merged.id) {}

    std::uint64_t key; // the rank, and the place of the left symbol
    std::uint32_t id;
  };

  // Returns the output of SplitMix64 (Steele, Lea and Flood 2014) for a state.
  static std::uint64_t mixed(std::uint64_t state) {
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9;
    state = (state ^ state >> 27) * 0x94D049BB133111EB;
    return state ^ state >> 31;
  }

  // Branchless: the order is unpredictable.
  static bool is_before(const Candidate &a, const Candidate &b) {
    return (a.key < b.key) | ((a.key == b.key) & (a.id < b.id));
  }

  // Stores the merge of a place, and puts it into the queue if there is one.
  void look_up(std::uint32_t at, Merged merged) {
    places_[at].merged = merged;
    if (merged.rank != NO_RANK)
      push(Candidate(at, merged));
  }

  // The queue is a heap of four children per node, which is faster than std::push_heap.
  void push(const Candidate &candidate) {
    std::size_t at = queue_.size();
    queue_.push_back(candidate);
    for (; at != 0 && is_before(candidate, queue_[(at - 1) / 4]); at = (at - 1) / 4)
      queue_[at] = queue_[(at - 1) / 4];
    queue_[at] = candidate;
  }

  Candidate pop() {
    const Candidate top = queue_.front();
    const Candidate last = queue_.back();
    queue_.pop_back();
    const std::size_t size = queue_.size();
    std::size_t at = 0;
    for (std::size_t child = 1; child < size; child = 4 * at + 1) {
      std::size_t least = child;
      const std::size_t end = std::min(child + 4, size);
      for (++child; child < end; ++child)
        least = is_before(queue_[child], queue_[least]) ? child : least;
      if (!is_before(queue_[least], last))
        break;
      queue_[at] = queue_[least];
      at = least;
    }
    if (size != 0)
      queue_[at] = last;
    return top;
  }

  std::uint64_t limit_;
  std::uint64_t seed_;
  std::uint64_t state_ = 0;
  std::vector<Place> places_;
  std::vector<Candidate> queue_; // a heap, the next candidate first
  std::vector<Candidate> left_out_;
};

} // namespace pretok
