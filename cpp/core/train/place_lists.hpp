// Memory for lists of places, and the pairs of a Trainer that wait.
#pragma once

#include "core/train/pair_counts.hpp"
#include "core/train/slots.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pretok {

// Lists that stay where they are. Short lists share blocks of memory.
class PlaceLists {
public:
  // Returns a list of `size` places, without values.
  Place *add(std::size_t size) {
    if (size > LONG) {
      std::unique_ptr<Place[]> list = allocate(size);
      Place *const places = list.get();
      long_lists_.emplace(places, std::move(list));
      return places;
    }
    if (size > left_) {
      blocks_.push_back(allocate(BLOCK));
      end_ = blocks_.back().get();
      left_ = BLOCK;
    }
    left_ -= size;
    end_ += size;
    return end_ - size;
  }
  // Frees a list, if it is long.
  void free(const Place *places) { long_lists_.erase(places); }

private:
  static constexpr std::size_t BLOCK = std::size_t{1} << 18;
  static constexpr std::size_t LONG = BLOCK / 64;

  static std::unique_ptr<Place[]> allocate(std::size_t size) {
    return std::unique_ptr<Place[]>(new Place[size]); // without zeros
  }

  std::vector<std::unique_ptr<Place[]>> blocks_;
  std::unordered_map<const Place *, std::unique_ptr<Place[]>> long_lists_;
  Place *end_ = nullptr;
  std::size_t left_ = 0;
};

// A pair that is not in the queue yet, because its count is too low. Its count was `count` when
// it got its places, and has only become lower since.
struct WaitingPair {
  PairKey key;
  const Place *places;
  std::uint32_t count; // 0 if the pair no longer waits
  std::uint32_t size;  // the number of places
};

// All waiting pairs, in groups: the pairs of the words before any merge, in the order of their
// keys, and the pairs that each merge made.
class WaitingPairs {
public:
  // Only pairs with a lower count may wait.
  static constexpr std::int64_t MAX_COUNT = static_cast<std::uint32_t>(-1);

  std::size_t size() const { return size_; }
  WaitingPair &operator[](std::size_t i) { return blocks_[i / BLOCK][i % BLOCK]; }

  void add(const WaitingPair &pair) {
    if (size_ % BLOCK == 0)
      blocks_.emplace_back(new WaitingPair[BLOCK]);
    blocks_.back()[size_++ % BLOCK] = pair;
    highest_ = std::max(highest_, pair.count);
  }
  // Ends a group. Group 0 has the pairs before any merge, group m + 1 those that merge m made.
  void end_group() { groups_.push_back(size_); }
  // Returns the index of the first pair of a group; begin(g + 1) is the end of group g.
  std::size_t begin(std::size_t group) const { return group == 0 ? 0 : groups_[group - 1]; }

  // Returns the pair of group 0 with this key, or nullptr.
  WaitingPair *find_first(PairKey key) {
    std::size_t low = 0;
    std::size_t high = begin(1);
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if ((*this)[middle].key < key)
        low = middle + 1;
      else
        high = middle;
    }
    return low < begin(1) && (*this)[low].key == key ? &(*this)[low] : nullptr;
  }

  // An upper bound of all counts.
  std::uint32_t highest() const { return highest_; }
  void set_highest(std::uint32_t count) { highest_ = count; }

private:
  static constexpr std::size_t BLOCK = std::size_t{1} << 12;

  std::vector<std::unique_ptr<WaitingPair[]>> blocks_;
  std::vector<std::size_t> groups_; // the end of each group
  std::size_t size_ = 0;
  std::uint32_t highest_ = 0;
};

} // namespace pretok
