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
// different numbers of slots at different places. A slot takes three bytes, so the number of a
// symbol of LONG slots or more takes two further slots at each end.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/prefetch.hpp"
#include "core/train/trainer_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>

namespace pretok {

// An index of a slot. A place of a pair is the first slot of its left symbol.
using Place = std::uint32_t;

// An array of numbers of 24 bits, with the lowest byte first as in the memory of every
// supported processor, so that one load of four bytes reads a number. There is a byte after the
// last number. The array grows without a second copy of its values, if the allocator can.
class SlotArray {
public:
  static constexpr std::size_t BYTES = 3; // of a value

  std::size_t size() const { return size_; }
  const std::uint8_t *data(std::size_t i) const { return bytes_.data() + i * BYTES; }
  std::uint32_t operator[](std::size_t i) const {
    std::uint32_t value;
    std::memcpy(&value, data(i), sizeof value);
    return value & 0xFFFFFF;
  }
  void set(std::size_t i, std::uint32_t value) {
    std::uint8_t *const bytes = bytes_.data() + i * BYTES;
    bytes[0] = static_cast<std::uint8_t>(value);
    bytes[1] = static_cast<std::uint8_t>(value >> 8);
    bytes[2] = static_cast<std::uint8_t>(value >> 16);
  }

  void reserve(std::size_t size) {
    if (size > static_cast<std::size_t>(-1) / (2 * BYTES))
      throw std::bad_alloc();
    bytes_.reserve(size * BYTES + 1);
  }
  void push_back(std::uint32_t value) {
    bytes_.resize((size_ + 1) * BYTES + 1);
    set(size_++, value);
  }
  // Removes all values from index `size` on.
  void shrink(std::size_t size) {
    size_ = size;
    bytes_.resize(size * BYTES + 1);
  }
  bool is_moved() const { return bytes_.is_moved(); }
  void move_to(const TrainerMemory &memory) { bytes_.move_to(memory); }

private:
  GrowingArray<std::uint8_t> bytes_;
  std::size_t size_ = 0;
};

class Slots {
public:
  using Symbol = std::uint32_t;

  // A slot that is in no pair: the boundary of a word.
  static constexpr Symbol WORD_BOUNDARY = (Symbol{1} << 24) - 1;
  // All symbols are lower.
  static constexpr Symbol MAX_SYMBOLS = Symbol{1} << 22;

  Slots() {
    slots_.push_back(WORD_BOUNDARY);
    starts_.push_back(1);
  }

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
  bool is_moved() const { return slots_.is_moved(); }
  // Moves everything to the memory of a trainer.
  void move_to(const TrainerMemory &memory) {
    slots_.move_to(memory);
    starts_.move_to(memory);
    counts_.move_to(memory);
    word_at_.move_to(memory);
  }
  // Adds to the count of a word.
  void add_count(std::size_t word, std::int64_t count) { counts_[word] += count; }
  void drop_last_word() {
    counts_.resize(counts_.size() - 1);
    starts_.resize(starts_.size() - 1);
    slots_.shrink(starts_.back());
  }
  // Returns whether two words have the same symbols, and a hash of the symbols of a word. Each
  // symbol must take one slot.
  bool are_equal(std::size_t a, std::size_t b) const {
    return bytes_of(a) == bytes_of(b) &&
           std::memcmp(slots_.data(starts_[a]), slots_.data(starts_[b]), bytes_of(a)) == 0;
  }
  std::uint64_t hash_of(std::size_t word, const HashKey &key) const {
    std::uint64_t hash = hash_words(bytes_of(word), 0, key);
    for (std::size_t i = starts_[word]; slots_[i] != WORD_BOUNDARY; ++i)
      hash = hash_words(slots_[i] ^ hash, i - starts_[word], key);
    return hash;
  }
  // Prepares word_of and count_at, after all words.
  void index_words() {
    while (slots_.size() >> entry_bits_ > 2 * words())
      ++entry_bits_;
    word_at_.resize((slots_.size() >> entry_bits_) + 1);
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < word_at_.size(); ++i) {
      while (word + 1 < starts_.size() && starts_[word + 1] <= i << entry_bits_)
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
  std::uint32_t size_at(Place place) const { return size_of(place, 1); }
  // Returns the number of slots of the symbol that ends before `place`.
  std::uint32_t size_before(Place place) const { return size_of(place - 1, -1); }
  // Returns whether these two symbols are at `place`, at which they once were.
  bool is_at(Symbol left, Symbol right, Place place) const {
    return (slots_[place] & ~WIDE) == left && at(place + size_at(place)) == right;
  }

  // Replaces two symbols, of `left` and `right` slots, by one.
  void replace(Place place, std::uint32_t left, std::uint32_t right, Symbol result) {
    const std::uint32_t size = left + right;
    slots_.set(place + left - 1, INSIDE);
    slots_.set(place + left, INSIDE);
    put(place, 1, result, size);
    put(place + size - 1, -1, result, size);
  }

  // Returns the word at `place`, and its count.
  std::uint32_t word_of(Place place) const {
    std::uint32_t word = word_at_[place >> entry_bits_];
    while (starts_[word + 1] <= place)
      ++word;
    return word;
  }
  std::int64_t count_at(Place place) const { return counts_[word_of(place)]; }

  // Prefetches the slots at `place`, and in a second step the count of its word.
  void prefetch(Place place) const {
    pretok::prefetch(slots_.data(place));
    pretok::prefetch(&word_at_[place >> entry_bits_]);
  }
  void prefetch_word(Place place) const {
    const std::uint32_t word = word_at_[place >> entry_bits_];
    pretok::prefetch(&starts_[word]);
    pretok::prefetch(&counts_[word]);
  }

private:
  static constexpr std::uint64_t MAX_SLOTS = std::uint64_t{1} << 32;
  // In the first and the last slot of a symbol that takes two slots or more.
  static constexpr Symbol WIDE = Symbol{1} << 23;
  // In the slots between them, which may also have the number of slots, or LONG.
  static constexpr Symbol INSIDE = Symbol{1} << 22;
  static constexpr std::uint32_t LONG = INSIDE - 1;

  std::size_t bytes_of(std::size_t word) const {
    return (starts_[word + 1] - starts_[word]) * SlotArray::BYTES;
  }
  [[noreturn]] static void throw_too_many() {
    throw std::length_error("expected less than 4 GiB of distinct pre-tokens");
  }
  void push(Symbol slot) {
    if (slots_.size() + 1 >= MAX_SLOTS)
      throw_too_many();
    slots_.push_back(slot);
  }
  // Returns the size of the symbol whose first slot is at `place`, with a `step` of 1, or its
  // last slot, with a `step` of -1.
  std::uint32_t size_of(Place place, int step) const {
    const auto inside = [&](int at) { return slots_[place + static_cast<Place>(at * step)]; };
    if ((slots_[place] & WIDE) == 0)
      return 1;
    const Symbol second = inside(1);
    if ((second & (WIDE | INSIDE)) != INSIDE)
      return 2;
    const std::uint32_t size = second & ~INSIDE;
    return size != LONG ? size : (inside(2) & ~INSIDE) * LONG + (inside(3) & ~INSIDE);
  }
  // Stores a symbol of `size` slots from one of its ends; `place` and `step` are those of
  // size_of.
  void put(Place place, int step, Symbol symbol, std::uint32_t size) {
    const auto set = [&](int at, Symbol slot) {
      slots_.set(place + static_cast<Place>(at * step), slot);
    };
    set(0, symbol | WIDE);
    if (size > 2)
      set(1, INSIDE | std::min(size, LONG));
    if (size >= LONG) {
      set(2, INSIDE | size / LONG);
      set(3, INSIDE | size % LONG);
    }
  }

  SlotArray slots_;
  GrowingArray<Place> starts_;        // the first slot of each word, and the end
  GrowingArray<std::int64_t> counts_; // of each word
  // For every 2^entry_bits_ slots, the word of the first one.
  GrowingArray<std::uint32_t> word_at_;
  unsigned entry_bits_ = 4;
};

} // namespace pretok
