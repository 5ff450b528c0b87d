// The words of a Trainer, as one array of slots.
//
// A symbol takes one slot or more. Its first and its last slot have its id. So the slot before
// a symbol has the id of its left neighbor, and the slot after it the id of its right neighbor:
//
//   bytes    |  t   h   e  |  t   h   a   t  |       | is WORD_BOUNDARY
//   slots    |  th  th  e  |  tha 3  tha  t  |
//
// The second and the last but one slot of a symbol of three slots or more have its number of
// slots. So each symbol is skipped in constant time, in both directions. A symbol may take
// different numbers of slots at different places.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/prefetch.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

namespace pretok {

// An index of a slot. A place of a pair is the first slot of its left symbol.
using Place = std::uint32_t;

// An array that grows without a second copy of its values, if the allocator can.
template <typename T> class SlotArray {
public:
  std::size_t size() const { return size_; }
  T *data() { return data_.get(); }
  const T *data() const { return data_.get(); }
  T &operator[](std::size_t i) { return data_.get()[i]; }
  const T &operator[](std::size_t i) const { return data_.get()[i]; }

  void reserve(std::size_t size) {
    if (size <= capacity_)
      return;
    if (size > static_cast<std::size_t>(-1) / sizeof(T))
      throw std::bad_alloc();
    void *const grown = std::realloc(data_.get(), size * sizeof(T));
    if (grown == nullptr)
      throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(static_cast<T *>(grown));
    capacity_ = size;
  }
  void push_back(T value) {
    if (size_ == capacity_)
      reserve(capacity_ + capacity_ / 2 + 1024);
    data_.get()[size_++] = value;
  }
  // Removes all values from index `size` on.
  void shrink(std::size_t size) { size_ = size; }

private:
  struct Free {
    void operator()(T *data) const { std::free(data); }
  };

  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

class Slots {
public:
  using Symbol = std::uint32_t;

  // A slot that is in no pair: the boundary of a word.
  static constexpr Symbol WORD_BOUNDARY = static_cast<Symbol>(-1);
  // All symbols are lower.
  static constexpr Symbol MAX_SYMBOLS = Symbol{1} << 30;

  Slots() { slots_.push_back(WORD_BOUNDARY); }

  // `add_symbol` appends a symbol of one slot, and `end_word` ends the word. Both throw
  // std::length_error if there are too many slots.
  void add_symbol(Symbol symbol) { push(symbol); }
  void end_word(std::int64_t count) {
    push(WORD_BOUNDARY);
    counts_.push_back(count);
    starts_.push_back(static_cast<Place>(slots_.size()));
  }
  void reserve(std::uint64_t slots, std::size_t words) {
    if (slots >= MAX_SLOTS)
      throw_too_many();
    slots_.reserve(static_cast<std::size_t>(slots));
    starts_.reserve(words + 1);
    counts_.reserve(words);
  }
  // Adds to the count of a word.
  void add_count(std::size_t word, std::int64_t count) { counts_[word] += count; }
  void drop_last_word() {
    counts_.pop_back();
    starts_.pop_back();
    slots_.shrink(starts_.back());
  }
  // Returns whether two words have the same symbols, and a hash of the symbols of a word. Each
  // symbol must take one slot.
  bool are_equal(std::size_t a, std::size_t b) const {
    return bytes_of(a) == bytes_of(b) &&
           std::memcmp(&slots_[starts_[a]], &slots_[starts_[b]], bytes_of(a)) == 0;
  }
  std::uint64_t hash_of(std::size_t word, const HashKey &key) const {
    const Symbol *const first = &slots_[starts_[word]];
    std::uint64_t hash = hash_words(bytes_of(word), 0, key);
    for (std::size_t i = 0; first[i] != WORD_BOUNDARY; ++i)
      hash = hash_words(first[i] ^ hash, i, key);
    return hash;
  }
  // Prepares word_of and count_at, after all words.
  void index_words() {
    word_at_.resize(slots_.size() / SLOTS_PER_ENTRY + 1);
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < word_at_.size(); ++i) {
      while (word + 1 < starts_.size() && starts_[word + 1] <= i * SLOTS_PER_ENTRY)
        ++word;
      word_at_[i] = word;
    }
  }

  std::size_t size() const { return slots_.size(); }
  std::size_t words() const { return counts_.size(); }
  // Returns the first slot of a word; `word` may be words().
  Place start(std::size_t word) const { return starts_[word]; }
  std::int64_t count(std::size_t word) const { return counts_[word]; }

  // Returns the symbol whose first or last slot is at `place`, or WORD_BOUNDARY.
  Symbol at(Place place) const {
    const Symbol slot = slots_[place];
    return slot == WORD_BOUNDARY ? slot : slot & ~WIDE;
  }
  // Returns the number of slots of the symbol that begins at `place`.
  std::uint32_t size_at(Place place) const { return size_of(slots_[place], place + 1); }
  // Returns the number of slots of the symbol that ends before `place`.
  std::uint32_t size_before(Place place) const { return size_of(slots_[place - 1], place - 2); }
  // Returns whether these two symbols are at `place`, at which they once were.
  bool is_at(Symbol left, Symbol right, Place place) const {
    return (slots_[place] & ~WIDE) == left && at(place + size_at(place)) == right;
  }

  // Replaces two symbols, of `left` and `right` slots, by one.
  void replace(Place place, std::uint32_t left, std::uint32_t right, Symbol result) {
    const std::uint32_t size = left + right;
    if (size >= MAX_SYMBOLS)
      throw std::length_error("expected tokens of less than 1 GiB");
    slots_[place + left - 1] = slots_[place + left] = INSIDE;
    if (size > 2)
      slots_[place + 1] = slots_[place + size - 2] = INSIDE | size;
    slots_[place] = slots_[place + size - 1] = result | WIDE;
  }

  // Returns the word at `place`, and its count.
  std::uint32_t word_of(Place place) const {
    std::uint32_t word = word_at_[place / SLOTS_PER_ENTRY];
    while (starts_[word + 1] <= place)
      ++word;
    return word;
  }
  std::int64_t count_at(Place place) const { return counts_[word_of(place)]; }

  // Prefetches the slots at `place`, and in a second step the count of its word.
  void prefetch(Place place) const {
    pretok::prefetch(slots_.data() + place);
    pretok::prefetch(&word_at_[place / SLOTS_PER_ENTRY]);
  }
  void prefetch_word(Place place) const {
    const std::uint32_t word = word_at_[place / SLOTS_PER_ENTRY];
    pretok::prefetch(&starts_[word]);
    pretok::prefetch(&counts_[word]);
  }

private:
  static constexpr std::uint64_t MAX_SLOTS = std::uint64_t{1} << 32;
  static constexpr std::size_t SLOTS_PER_ENTRY = 16;
  // In the first and the last slot of a symbol that takes two slots or more.
  static constexpr Symbol WIDE = Symbol{1} << 31;
  // In the slots between them, which may also have the number of slots.
  static constexpr Symbol INSIDE = Symbol{1} << 30;

  std::size_t bytes_of(std::size_t word) const {
    return (starts_[word + 1] - starts_[word]) * sizeof(Symbol);
  }
  [[noreturn]] static void throw_too_many() {
    throw std::length_error("expected less than 4 GiB of distinct pre-tokens");
  }
  void push(Symbol slot) {
    if (slots_.size() + 1 >= MAX_SLOTS)
      throw_too_many();
    slots_.push_back(slot);
  }
  // Returns the size of a symbol with the first or last slot `slot`. The slot next to it,
  // inside the symbol, is at `next`.
  std::uint32_t size_of(Symbol slot, Place next) const {
    if ((slot & WIDE) == 0)
      return 1;
    const Symbol inside = slots_[next];
    return (inside & (WIDE | INSIDE)) == INSIDE ? inside & ~INSIDE : 2;
  }

  SlotArray<Symbol> slots_;
  std::vector<Place> starts_{1};     // the first slot of each word, and the end
  std::vector<std::int64_t> counts_; // of each word
  std::vector<std::uint32_t> word_at_;
};

} // namespace pretok
