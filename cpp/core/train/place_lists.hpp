// Memory for lists of places, and the pairs of a Trainer that wait.
#pragma once

#include "core/train/pair_counts.hpp"
#include "core/train/slots.hpp"
#include "core/train/trainer_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pretok {

// Arrays that stay where they are, in the memory of a trainer.
template <typename Item> class Arrays {
public:
  explicit Arrays(const TrainerMemory &memory) : memory_(memory) {}

  // Returns an array of `size` items, without values.
  Item *add(std::size_t size) {
    if (memory_.allocate)
      return static_cast<Item *>(memory_.allocate(size * sizeof(Item)));
    std::unique_ptr<Item[]> array(new Item[size]);
    Item *const items = array.get();
    arrays_.emplace(items, std::move(array));
    return items;
  }
  void free(Item *items, std::size_t size) {
    if (memory_.free)
      memory_.free(items, size * sizeof(Item));
    else
      arrays_.erase(items);
  }

private:
  TrainerMemory memory_;
  std::unordered_map<const Item *, std::unique_ptr<Item[]>> arrays_;
};

// Lists that stay where they are. Short lists share blocks of memory.
class PlaceLists {
public:
  explicit PlaceLists(const TrainerMemory &memory) : arrays_(memory) {}

  // Returns a list of `size` places, without values.
  Place *add(std::size_t size) {
    if (size > LONG)
      return arrays_.add(size);
    if (size > left_) {
      end_ = arrays_.add(BLOCK);
      left_ = BLOCK;
    }
    left_ -= size;
    end_ += size;
    return end_ - size;
  }
  // Frees a list of this size, if it is long.
  void free(Place *places, std::size_t size) {
    if (size > LONG)
      arrays_.free(places, size);
  }

private:
  static constexpr std::size_t BLOCK = std::size_t{1} << 18;
  static constexpr std::size_t LONG = BLOCK / 64;

  Arrays<Place> arrays_;
  Place *end_ = nullptr;
  std::size_t left_ = 0;
};

// A pair that is not in the queue yet, because its count is too low. Its count was `count` when
// it got its places, and has only become lower since.
struct WaitingPair {
  PairKey key;
  Place *places;
  std::uint32_t count; // 0 if the pair no longer waits
  std::uint32_t size;  // the number of places
};

// All waiting pairs, in groups: the pairs of the words before any merge, in the order of their
// keys, and the pairs that each merge made.
class WaitingPairs {
public:
  // Only pairs with a lower count may wait.
  static constexpr std::int64_t MAX_COUNT = static_cast<std::uint32_t>(-1);

  explicit WaitingPairs(const TrainerMemory &memory) : arrays_(memory) {}

  std::size_t size() const { return size_; }
  WaitingPair &operator[](std::size_t i) { return blocks_[i / BLOCK][i % BLOCK]; }

  void add(const WaitingPair &pair) {
    if (size_ % BLOCK == 0)
      blocks_.push_back(arrays_.add(BLOCK));
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

  Arrays<WaitingPair> arrays_;
  std::vector<WaitingPair *> blocks_;
  std::vector<std::size_t> groups_; // the end of each group
  std::size_t size_ = 0;
  std::uint32_t highest_ = 0;
};

} // namespace pretok
