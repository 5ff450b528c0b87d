// Sorted runs of words, for counts that do not fit in memory. A run has words in the order of
// their bytes. It is stored in blocks, each of which can be read without the others:
//
//   block   entry*
//   entry   shared, size, size bytes, count, first
//
// All numbers are varints: 7 bits in each byte, the lowest first. `shared` is the number of
// bytes that the word has in common with the start of the word before it in the block, and
// `size` the number of the bytes after these. `first` is Word::first.
// bpe/training/runs.py has the same format in Python.
#pragma once

#include "core/base/byte_view.hpp"
#include "core/base/function_ref.hpp"
#include "core/train/word_table.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace pretok {

// The size of a whole run.
struct RunSize {
  std::uint64_t words = 0;
  std::uint64_t bytes = 0; // of all words
  std::int64_t total = 0;  // the sum of count * size over all words
};

class RunWriter {
public:
  // Passes each block to `write`, which must outlive the writer.
  explicit RunWriter(FunctionRef<void(ByteView)> write) : write_(write) {}
  // Adds a word, which must be greater than the word before.
  void add(ByteView word, std::int64_t count, std::uint64_t first);
  // Writes the last block.
  void finish();
  const RunSize &size() const { return size_; }

private:
  void put(std::uint64_t number);

  FunctionRef<void(ByteView)> write_;
  RunSize size_;
  std::vector<std::uint8_t> block_;
  std::vector<std::uint8_t> last_;
};

// Reads the words of a run in order.
class RunReader {
public:
  // Returns the next block, or an empty view at the end. The view is valid until the next call.
  using NextBlock = std::function<ByteView()>;

  // Adds `base` to each Word::first.
  explicit RunReader(NextBlock next_block, std::uint64_t base = 0)
      : next_block_(std::move(next_block)), base_(base) {}
  // Goes to the next word; returns false at the end. Throws std::invalid_argument if a block
  // is malformed.
  bool next();
  // The current word, valid until `next`.
  ByteView word() const { return {word_.data(), word_.size()}; }
  std::int64_t count() const { return count_; }
  std::uint64_t first() const { return first_; }

private:
  std::uint64_t take();

  NextBlock next_block_;
  std::uint64_t base_;
  ByteView rest_{nullptr, 0}; // of the block
  std::vector<std::uint8_t> word_;
  std::int64_t count_ = 0;
  std::uint64_t first_ = 0;
};

// Writes the words of all tables as one run. `words` are pointers into the tables.
RunSize write_run(std::vector<WordTable> &tables, FunctionRef<void(ByteView)> write,
                  FunctionRef<void()> check_interrupt);
// Merges sorted runs into one, which has each word once, with the sum of its counts and its
// lowest Word::first.
RunSize merge_runs(std::vector<RunReader> &runs, FunctionRef<void(ByteView)> write,
                   FunctionRef<void()> check_interrupt);

} // namespace pretok
