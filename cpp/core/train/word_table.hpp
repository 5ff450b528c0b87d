// A hash table of distinct words and their counts.
#pragma once

#include "core/base/byte_view.hpp"
#include "core/base/hash.hpp"
#include "core/train/word.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pretok {

// Distinct byte strings with their counts. Uses little more memory than the strings.
class WordTable {
public:
  // The hash key does not affect the results.
  explicit WordTable(const HashKey &key = hash_key()) : hash_key_(key), slots_(1024) {}

  // The key of a byte string: the bytes themselves if they are few, else a hash.
  struct Key {
    std::uint64_t low;
    std::uint64_t high; // the size in the highest byte, or LONG_KEY_MARK

    bool operator==(const Key &other) const { return low == other.low && high == other.high; }
  };

  // Returns the key of `bytes` and prefetches its slot, as the first step of `add`. May read
  // memory up to `limit`.
  Key prepare(ByteView bytes, const std::uint8_t *limit) const;
  // Throws std::length_error for 4 GiB of bytes or more.
  void add(ByteView bytes, const Key &key, std::int64_t count, std::uint64_t first) {
    slot_for(bytes, key, first).count += count;
  }
  void add(ByteView bytes, std::int64_t count, std::uint64_t first) {
    add(bytes, prepare(bytes, bytes.data + bytes.size), count, first);
  }
  // Adds all words of another table with the same hash key, and empties that table. In both
  // tables words must have been added in the order of Word::first. After this, only tables can
  // be added.
  void add(WordTable &other, unsigned threads);
  // Returns the size in bytes of the longest word.
  std::size_t longest() const { return longest_; }
  // Returns the words in the order of Word::first. Nothing can be added after this.
  const std::vector<Word> &finish();

private:
  struct Slot {
    Key key;
    std::int64_t count;
    std::uint32_t word; // the index of the word plus one; 0: a free slot
  };

  const std::uint8_t *store_bytes(ByteView bytes);
  std::size_t slot_of(const Key &key) const;
  Slot &slot_for(ByteView bytes, const Key &key, std::uint64_t first);
  const Word *find(ByteView bytes, const Key &key) const;
  void store_counts();
  void fill_slots();
  void grow();

  HashKey hash_key_;
  std::vector<Word> words_;
  std::vector<Slot> slots_; // open addressing
  std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
  std::uint8_t *block_end_ = nullptr;
  std::size_t block_bytes_left_ = 0;
  std::size_t longest_ = 0;
  bool are_counts_stored_ = false; // whether words_ has the counts
  bool are_slots_filled_ = true;   // whether the slots have words_
};

} // namespace pretok
