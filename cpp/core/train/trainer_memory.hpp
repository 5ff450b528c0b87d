// Memory of a Trainer that may be in a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace pretok {

// Gives a Trainer memory for places and for the pairs that wait, most of which it reads rarely,
// and for words if they take too much ordinary memory. If the functions are empty, it takes
// ordinary memory.
struct TrainerMemory {
  // Returns a block of `size` bytes, which stays where it is as long as the trainer.
  std::function<void *(std::size_t size)> allocate;
  // Is called with memory from `allocate` that is no longer needed.
  std::function<void(void *memory, std::size_t size)> free;
  // Is called after some thousand places. May write changed blocks to the file, and remove
  // blocks from memory until they are read again. Returns true if ordinary memory takes too
  // much, so that words should move to the file. If `have_moved`, they have, and the function
  // may throw.
  std::function<bool(bool have_moved)> trim;
  bool holds_words = false;
};

// An array that grows in ordinary memory, and can move to the memory of a Trainer.
template <typename Item> class GrowingArray {
public:
  static_assert(std::is_trivially_copyable<Item>::value, "items are copied as bytes");

  std::size_t size() const { return size_; }
  const Item *data() const { return items_; }
  Item *data() { return items_; }
  const Item &operator[](std::size_t i) const { return items_[i]; }
  Item &operator[](std::size_t i) { return items_[i]; }
  const Item &back() const { return items_[size_ - 1]; }

  void push_back(const Item &item) {
    resize(size_ + 1);
    items_[size_ - 1] = item;
  }
  // Removes items from the end, or adds items without values.
  void resize(std::size_t size) {
    if (size > capacity_)
      reserve(std::max(size, capacity_ + capacity_ / 2 + 1024));
    size_ = size;
  }
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_)
      return;
    if (capacity > static_cast<std::size_t>(-1) / sizeof(Item))
      throw std::bad_alloc();
    if (memory_.allocate) {
      copy_to_memory(capacity);
      return;
    }
    void *const grown = std::realloc(static_cast<void *>(heap_.get()), capacity * sizeof(Item));
    if (grown == nullptr)
      throw std::bad_alloc();
    static_cast<void>(heap_.release());
    heap_.reset(static_cast<Item *>(grown));
    items_ = heap_.get();
    capacity_ = capacity;
  }
  bool is_moved() const { return static_cast<bool>(memory_.allocate); }
  // Moves the items to `memory`, and takes all further memory from there.
  void move_to(const TrainerMemory &memory) {
    memory_ = memory;
    copy_to_memory(std::max<std::size_t>(capacity_, 1024));
    heap_.reset();
  }

private:
  static constexpr std::size_t COPIED_AT_ONCE = std::size_t{1} << 22; // in bytes

  struct Free {
    void operator()(Item *items) const { std::free(items); }
  };

  void copy_to_memory(std::size_t capacity) {
    Item *const copy = static_cast<Item *>(memory_.allocate(capacity * sizeof(Item)));
    constexpr std::size_t STEP = COPIED_AT_ONCE / sizeof(Item);
    for (std::size_t i = 0; i < size_; i += STEP) {
      std::memcpy(copy + i, items_ + i, std::min(STEP, size_ - i) * sizeof(Item));
      if (memory_.trim)
        memory_.trim(/*have_moved=*/false);
    }
    if (items_ != nullptr && !heap_ && memory_.free)
      memory_.free(items_, capacity_ * sizeof(Item));
    items_ = copy;
    capacity_ = capacity;
  }

  TrainerMemory memory_; // empty until move_to
  std::unique_ptr<Item, Free> heap_;
  Item *items_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

} // namespace pretok
