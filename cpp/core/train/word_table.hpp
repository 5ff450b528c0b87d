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

// Distinct byte strings with their counts. Stores the bytes of each word once.
class WordTable {
public:
  // Results do not depend on the hash key.
  explicit WordTable(const HashKey &hash_key = pretok::hash_key())
      : hash_key_(hash_key), slots_(1024) {}

  // The key of a byte string: the bytes themselves if there are at most 15, else a hash.
  struct Key {
    std::uint64_t low;
    std::uint64_t high; // highest byte: the size, or LONG_KEY_MARK for a hash

    bool operator==(const Key &other) const { return low == other.low && high == other.high; }
  };

  // Returns the key of `bytes` and prefetches its slot. Call `prepare` some time before `add`.
  // May read past the end of `bytes`, but not past `limit`.
  Key prepare(ByteView bytes, const std::uint8_t *limit) const;
  // Counts a word. `position` is the position of the word in the texts. The table keeps the
  // position of the first call for the word. Throws std::length_error if the word has 4 GiB or
  // more.
  void add(ByteView bytes, const Key &key, std::int64_t count, std::uint64_t position) {
    find_or_insert(bytes, key, position).count += count;
  }
  void add(ByteView bytes, std::int64_t count, std::uint64_t position) {
    add(bytes, prepare(bytes, bytes.data + bytes.size), count, position);
  }
  // Adds all words of `other`, and empties it. Both tables must have equal hash keys, and their
  // words must have been added in the order of Word::first. After this call, only whole tables
  // can be added to this table.
  void add(WordTable &other, unsigned threads);
  // Returns the size in bytes of the longest word.
  std::size_t longest() const { return longest_; }
  // Returns the words in the order of Word::first. After this call, nothing can be added.
  const std::vector<Word> &finish();

private:
  struct Slot {
    Key key;
    std::int64_t count;
    std::uint32_t word; // the index in words_ plus one; 0: a free slot
  };

  const std::uint8_t *store_bytes(ByteView bytes);
  std::size_t slot_index(const Key &key) const;
  Slot &find_or_insert(ByteView bytes, const Key &key, std::uint64_t position);
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
  bool are_counts_stored_ = false; // true if words_ has the current counts
  bool are_slots_filled_ = true;   // true if slots_ refers to every word of words_
};

} // namespace pretok
