// Distinct words and their counts.
#pragma once

#include "core/base/byte_view.hpp"
#include "core/base/hash.hpp"
#include "core/train/word.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pretok {

// Distinct byte strings with their counts. Memory close to the size of the strings.
class WordTable {
public:
  // Other keys give other indices in memory, and the same results.
  explicit WordTable(const HashKey &key = hash_key()) : hash_key_(key), slots_(1024) {}

  // Bytes as they are looked up: few bytes are their own key, and of others it is a hash.
  struct Key {
    std::uint64_t low;
    std::uint64_t high; // the size in the highest byte, or LONG_KEY_MARK

    bool operator==(const Key &other) const { return low == other.low && high == other.high; }
  };

  // Adds in two steps, between which memory can be fetched. Memory up to `limit` may be read.
  Key prepare(ByteView bytes, const std::uint8_t *limit) const;
  // Throws std::length_error for 4 GiB of bytes or more.
  void add(ByteView bytes, const Key &key, std::int64_t count, std::uint64_t first) {
    slot_for(bytes, key, first).count += count;
  }
  void add(ByteView bytes, std::int64_t count, std::uint64_t first) {
    add(bytes, prepare(bytes, bytes.data + bytes.size), count, first);
  }
  // Adds all that is in another table, of the same key, and empties that one. In both, words
  // must have been added in the order of Word::first. Nothing else can be added any more.
  void add(WordTable &other, unsigned threads);
  // How many bytes the longest word has.
  std::size_t longest() const { return longest_; }
  // Returns the words in the order of Word::first. Nothing can be added any more.
  const std::vector<Word> &finish();

private:
  struct Slot {
    Key key;
    std::int64_t count;
    std::uint32_t word; // its index plus one, or 0
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
  bool are_counts_stored_ = false; // whether the counts are those of words_
  bool are_slots_filled_ = true;   // whether words_ are in the indices
};

} // namespace pretok
