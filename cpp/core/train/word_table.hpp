// A hash table of words (word.hpp) and their counts.
#pragma once

#include "core/base/byte_view.hpp"
#include "core/base/hash.hpp"
#include "core/base/open_table.hpp"
#include "core/base/short_key.hpp"
#include "core/train/word.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pretok {

// Counts words, which are distinct byte strings. Stores the bytes of each word once.
class WordTable {
public:
  // Results do not depend on the hash key.
  explicit WordTable(const HashKey &hash_key = pretok::hash_key())
      : hash_key_(hash_key), slots_(512) {}

  // Returns the key of `bytes` and prefetches its slot. Call `prepare` some time before `add`.
  // May read past the end of `bytes`, but not past `limit`.
  ShortKey prepare(ByteView bytes, const std::uint8_t *limit) const;
  // Adds `count` to the count of a word. `position` is the position of the word in the texts.
  // The table keeps the position of the first call for this word. Throws std::length_error if
  // the word has 4 GiB or more, or if there are 4 billion distinct words.
  void add(ByteView bytes, const ShortKey &key, std::int64_t count, std::uint64_t position) {
    find_or_insert(bytes, key, position).count += count;
  }
  void add(ByteView bytes, std::int64_t count, std::uint64_t position) {
    add(bytes, prepare(bytes, bytes.data + bytes.size), count, position);
  }
  // Adds all words of `other` to this table, and empties `other`. Both tables must have equal
  // hash keys, and their words must have been added in the order of Word::first. After this
  // call, do not add single words to this table; only other tables.
  void add(WordTable &other, unsigned threads);
  // Returns the size in bytes of the longest word, without words from other tables.
  std::size_t longest() const { return longest_; }
  // Returns the estimated size of all words in bytes.
  std::size_t size() const { return bytes_ + words_.size() * WORD_OVERHEAD; }
  // Returns the memory of this table in bytes. A vector that is nearly full counts three times,
  // since growing doubles it. Each word also counts 16 bytes for sorting (word_runs.cpp).
  std::size_t memory() const;
  // Returns the words in the order of Word::first. After this call, do not add anything.
  const std::vector<Word> &finish();

private:
  static constexpr std::uint32_t NO_WORD = static_cast<std::uint32_t>(-1);
  static constexpr std::size_t WORD_OVERHEAD = 64;

  struct Slot {
    ShortKey key = ShortKey::none();
    std::int64_t count = 0;
    std::uint32_t word = NO_WORD; // index in words_

    bool is_free() const { return word == NO_WORD; }
  };

  // Copies the bytes of a new word into a block. Returns the copy.
  const std::uint8_t *store_bytes(ByteView bytes);
  bool is_match(const Slot &slot, ByteView bytes, const ShortKey &key) const;
  // Returns the slot of a word, or a free slot that the caller fills.
  Slot &find_or_add(ByteView bytes, const ShortKey &key);
  // Returns the slot of a word. Adds a new word to words_ with its first `position`.
  Slot &find_or_insert(ByteView bytes, const ShortKey &key, std::uint64_t position);
  void store_counts();
  void fill_slots();

  HashKey hash_key_;
  std::vector<Word> words_;
  OpenTable<Slot> slots_;
  std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
  std::uint8_t *block_end_ = nullptr;
  std::size_t block_bytes_left_ = 0;
  std::size_t longest_ = 0;
  std::size_t bytes_ = 0;          // of the words that were not added by a table
  std::size_t block_bytes_ = 0;    // of all blocks
  bool are_counts_stored_ = false; // true if words_ has the current counts
  bool are_slots_filled_ = true;   // true if slots_ refers to every word of words_
};

} // namespace pretok
