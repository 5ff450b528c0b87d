// The queue of a Trainer: pairs with their counts, the most frequent first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

class MergeQueue {
public:
  struct Entry {
    std::int64_t count;
    std::uint64_t order; // the lowest order comes first among equal counts
    std::uint32_t
        bucket; // index in Trainer::buckets_; the lowest comes first among equal orders
  };

  void push(const Entry &entry) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), Less());
  }

  // Returns the first entry, or nullptr if the queue is empty. The pointer is valid until the
  // queue changes.
  const Entry *first() const { return heap_.empty() ? nullptr : heap_.data(); }

  void remove_first() {
    std::pop_heap(heap_.begin(), heap_.end(), Less());
    heap_.pop_back();
  }

  // Replaces the first entry, which usually stays near the top.
  void replace_first(const Entry &entry) {
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

  std::vector<Entry> heap_;
};

} // namespace pretok
