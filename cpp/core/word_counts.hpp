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

// Distinct byte strings with their counts, in the order in which they were first added. Memory
// close to the size of the strings.
class WordTable {
public:
  struct Word {
    const std::uint8_t *data; // owned by the table
    std::uint32_t size;
    std::uint32_t hash;
    std::int64_t count;
    std::uint64_t first; // what was given when it was first added
  };

  // Other seeds give other places in memory, and the same results.
  explicit WordTable(std::uint64_t seed);

  // Throws std::length_error for 4 GiB of bytes or more.
  void add(ByteView bytes, std::int64_t count, std::uint64_t first);
  const std::vector<Word> &words() const { return words_; }

private:
  const std::uint8_t *keep(ByteView bytes);
  void grow();

  std::uint64_t seed_;
  std::vector<Word> words_;
  // Open addressing: the hash of a word above its index plus one, or 0.
  std::vector<std::uint64_t> places_;
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
  // Returns all that was counted, in the order of first appearance, and starts anew.
  WordTable take();

private:
  std::uint64_t seed_;
  std::uint64_t position_ = 0;
  std::vector<WordTable> tables_; // one for each thread
};

} // namespace pretok
