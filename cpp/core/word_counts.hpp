// Counting distinct pre-tokens: what training needs to know of its text.
#pragma once

#include "machine.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pretok {

// Bytes that someone else keeps.
struct ByteView {
  const std::uint8_t *data;
  std::size_t size;
};

// Distinct byte strings with their counts. Memory close to the size of the strings.
class WordTable {
public:
  struct Word {
    const std::uint8_t *data; // owned by the table
    std::uint64_t first;      // the least of what was given when it was added
    std::int64_t count;
    std::uint32_t size;
  };

  // Other seeds give other places in memory, and the same results.
  explicit WordTable(std::uint64_t seed) : seed_(seed), places_(1024) {}

  // Bytes as they are looked up: few bytes are their own key, and of others it is a hash.
  struct Key {
    std::uint64_t low;
    std::uint64_t high; // the size in the highest byte, or LONG

    bool operator==(const Key &other) const { return low == other.low && high == other.high; }
  };

  // Adds in two steps, between which memory can be fetched. Memory up to `limit` may be read.
  Key prepare(ByteView bytes, const std::uint8_t *limit) const;
  // Throws std::length_error for 4 GiB of bytes or more.
  void add(ByteView bytes, const Key &key, std::int64_t count, std::uint64_t first) {
    place_for(bytes, key, first).count += count;
  }
  void add(ByteView bytes, std::int64_t count, std::uint64_t first) {
    add(bytes, prepare(bytes, bytes.data + bytes.size), count, first);
  }
  // Adds all that is in another table.
  void add(WordTable &other);
  // Returns the words in the order of Word::first. Nothing can be added any more.
  const std::vector<Word> &finish();

private:
  struct Place {
    Key key;
    std::int64_t count;
    std::uint32_t word; // its index plus one, or 0
  };

  const std::uint8_t *keep(ByteView bytes);
  std::size_t place_of(const Key &key) const;
  Place &place_for(ByteView bytes, const Key &key, std::uint64_t first);
  std::vector<Word> &settle();
  void grow();

  std::uint64_t seed_;
  std::vector<Word> words_;
  std::vector<Place> places_; // open addressing
  std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
  std::uint8_t *free_ = nullptr;
  std::size_t left_ = 0;
};

// Counts the pre-tokens of texts that come in batches; the result does not depend on how the
// texts are put into batches, nor on the number of threads.
class WordCounts {
public:
  WordCounts();

  // Counts the pre-tokens of `texts`, each a text by itself, on up to `threads` threads.
  void add(const Machine &machine, const std::vector<ByteView> &texts, unsigned threads);
  void add_word(ByteView word, std::int64_t count);
  // Returns all that was counted, by where it first appeared, and starts anew.
  WordTable take();

private:
  std::uint64_t seed_;
  std::uint64_t position_ = 0;
  std::vector<WordTable> tables_; // one for each thread
};

} // namespace pretok
