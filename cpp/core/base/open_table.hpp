// The open-addressed hash table and the Bloom filter of the library. Callers compute the hash
// of each key with a function of hash.hpp, and pass it to each call.
#pragma once

#include "core/base/huge_pages.hpp"
#include "core/base/noinline.hpp"
#include "core/base/prefetch.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// A hash table with linear probing. The top bits of a hash select the first slot of a probe. At
// most MAX_PERCENT of the slots are in use, so every probe ends at a free slot. A default Slot
// is free: Slot::is_free() returns true.
template <typename Slot, std::uint64_t MAX_PERCENT = 50> class OpenTable {
  using Slots = std::vector<Slot, HugePages<Slot>>;

public:
  OpenTable() = default; // without slots; reset() before any other call
  explicit OpenTable(std::size_t count) { reset(count); }

  // Empties the table, and makes room for `count` slots in use.
  PRETOK_NOINLINE void reset(std::size_t count) {
    unsigned bits = 4;
    while ((std::uint64_t{1} << bits) * MAX_PERCENT < std::uint64_t{count} * 100)
      ++bits;
    slots_ = Slots(std::size_t{1} << bits);
    shift_ = 64 - bits;
    used_ = 0;
    limit_ = max_used();
  }

  // Makes room for one more slot in use. hash_of(slot) returns the hash of a slot in use. If
  // the table is full, it doubles, and all slots in use move.
  template <typename HashOf> void make_room(HashOf hash_of) {
    if (used_ >= limit_)
      grow(hash_of);
  }

  // Returns the number of slots in use.
  std::size_t size() const { return used_; }
  // Returns the number of slots that may be in use before the table doubles.
  std::size_t limit() const { return limit_; }
  // Returns the memory of the slots in bytes.
  std::size_t memory() const { return slots_.size() * sizeof(Slot); }

  // Prefetches the memory that `find` reads first.
  void prefetch(std::uint64_t hash) const {
    const Slot *const slot = slots_.data() + first_of(hash);
    pretok::prefetch(slot);
    // A slot may span two lines of the processor's cache.
    constexpr std::size_t LINE = 64;
    if constexpr (LINE % sizeof(Slot) != 0)
      pretok::prefetch(reinterpret_cast<const unsigned char *>(slot) + sizeof(Slot) - 1);
  }

  // Returns the slot in use for which is_match(slot) returns true, or a free slot.
  template <typename IsMatch> const Slot &find(std::uint64_t hash, IsMatch is_match) const {
    return slots_[place_of(hash, is_match)];
  }
  template <typename IsMatch> Slot &find(std::uint64_t hash, IsMatch is_match) {
    return slots_[place_of(hash, is_match)];
  }

  // Like `find`, but counts a free slot as in use: the caller must fill it. The table must have
  // room for one more slot; see make_room. The reference is valid until the next call of reset
  // or make_room.
  template <typename IsMatch> Slot &find_or_add(std::uint64_t hash, IsMatch is_match) {
    Slot &slot = find(hash, is_match);
    used_ += slot.is_free() ? 1 : 0;
    return slot;
  }

  // Iterate over all slots, including free slots.
  typename Slots::const_iterator begin() const { return slots_.begin(); }
  typename Slots::const_iterator end() const { return slots_.end(); }

private:
  std::size_t max_used() const {
    return static_cast<std::size_t>(slots_.size() * MAX_PERCENT / 100);
  }

  std::size_t first_of(std::uint64_t hash) const {
    return static_cast<std::size_t>(hash >> shift_);
  }

  template <typename IsMatch> std::size_t place_of(std::uint64_t hash, IsMatch is_match) const {
    std::size_t at = first_of(hash);
    while (!slots_[at].is_free() && !is_match(slots_[at]))
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  template <typename HashOf> PRETOK_NOINLINE void grow(HashOf hash_of) {
    Slots before(slots_.size() * 2);
    before.swap(slots_);
    --shift_;
    limit_ = max_used();
    for (const Slot &slot : before)
      if (!slot.is_free())
        find(hash_of(slot), [](const Slot &) { return false; }) = slot;
  }

  Slots slots_;
  std::size_t used_ = 0;
  std::size_t limit_ = 0; // the maximum of used_
  unsigned shift_ = 63;
};

// A Bloom filter with one bit per key, which the top bits of a hash select. It is small enough
// for the processor's cache, so it saves most look-ups that would fail in a large table.
class BitFilter {
public:
  BitFilter() { reset(0); }

  // Empties the filter, and makes room for `count` keys. After `count` calls of `add`, may_have
  // returns 1 for at most one in 16 of the keys that were not added.
  void reset(std::size_t count);

  void add(std::uint64_t hash) { words_[word_of(hash)] |= std::uint64_t{1} << bit_of(hash); }

  // Returns 0 if the filter lacks the key, else 1.
  unsigned may_have(std::uint64_t hash) const {
    return words_[word_of(hash)] >> bit_of(hash) & 1;
  }

  // Prefetches the memory that `may_have` will read.
  void prefetch(std::uint64_t hash) const { pretok::prefetch(words_.data() + word_of(hash)); }

private:
  std::size_t word_of(std::uint64_t hash) const {
    return static_cast<std::size_t>(hash >> shift_ >> 6);
  }
  unsigned bit_of(std::uint64_t hash) const { return hash >> shift_ & 63; }

  std::vector<std::uint64_t> words_;
  unsigned shift_;
};

} // namespace pretok
