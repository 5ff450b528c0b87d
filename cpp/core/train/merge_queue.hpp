// The queue of a Trainer: pairs with their counts, the most frequent first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Most entries never come first, so only the entries with the highest counts are in a heap,
// which stays small and fast. The others wait, unordered, until the heap is empty.
class MergeQueue {
public:
  struct Entry {
    std::int64_t count;
    std::uint64_t order; // the lowest order comes first among equal counts
    std::uint32_t
        bucket; // index in Trainer::buckets_; the lowest comes first among equal orders
  };

  // Adds an entry to the heap, or to the waiting entries if its count is too low for the heap.
  void push(const Entry &entry) {
    if (entry.count < min_heap_count_) {
      waiting_.push_back(entry);
      return;
    }
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), Less());
  }

  // Returns the first entry, or nullptr if the queue is empty. The pointer is valid until the
  // queue changes.
  const Entry *first() { return heap_.empty() && !refill() ? nullptr : heap_.data(); }

  // Returns the first entry of the heap, or nullptr if the heap is empty.
  const Entry *first_in_heap() const { return heap_.empty() ? nullptr : heap_.data(); }

  void remove_first() {
    std::pop_heap(heap_.begin(), heap_.end(), Less());
    heap_.pop_back();
  }

  // Replaces the first entry by an entry that comes later.
  void replace_first(const Entry &entry) {
    if (entry.count >= min_heap_count_) {
      sift_down(entry);
    } else {
      remove_first();
      waiting_.push_back(entry);
    }
  }

private:
  // Orders the heap. std::push_heap keeps the greatest entry in front.
  struct Less {
    bool operator()(const Entry &a, const Entry &b) const {
      if (a.count != b.count)
        return a.count < b.count;
      if (a.order != b.order)
        return a.order > b.order;
      return a.bucket > b.bucket;
    }
  };

  // Replaces the greatest heap entry by a smaller one, which usually stays near the top.
  void sift_down(const Entry &entry) {
    const Less less;
    std::size_t at = 0;
    for (std::size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size() && less(heap_[child], heap_[child + 1]))
        ++child;
      if (!less(entry, heap_[child]))
        break;
      heap_[at] = heap_[child];
      at = child;
    }
    heap_[at] = entry;
  }

  // Makes a heap of the waiting entries with the highest counts, about an eighth of them.
  // Returns false if no entry waits.
  bool refill() {
    if (waiting_.empty())
      return false;
    const auto by_count = [](const Entry &a, const Entry &b) { return a.count > b.count; };
    const auto middle = waiting_.begin() + static_cast<std::ptrdiff_t>(waiting_.size() / 8);
    std::nth_element(waiting_.begin(), middle, waiting_.end(), by_count);
    min_heap_count_ = middle->count;
    const auto first =
        std::partition(waiting_.begin(), waiting_.end(),
                       [this](const Entry &entry) { return entry.count < min_heap_count_; });
    heap_.assign(first, waiting_.end());
    waiting_.erase(first, waiting_.end());
    std::make_heap(heap_.begin(), heap_.end(), Less());
    return true;
  }

  std::vector<Entry> heap_;    // the entries with at least `min_heap_count_`
  std::vector<Entry> waiting_; // the entries with lower counts
  std::int64_t min_heap_count_ = 0;
};

} // namespace pretok
