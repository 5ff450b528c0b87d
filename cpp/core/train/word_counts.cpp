#include "core/train/word_counts.hpp"

#include <algorithm>
#include <utility>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace pretok {

void WordCounts::add_word(ByteView word, std::int64_t count) {
  tables_[0].add(word, count, next_position_);
  next_position_ += word.size;
}

std::size_t WordCounts::longest() const {
  std::size_t longest = 0;
  for (const WordTable &table : tables_)
    longest = std::max(longest, table.longest());
  return longest;
}

std::size_t WordCounts::size() const {
  std::size_t size = 0;
  for (const WordTable &table : tables_)
    size += table.size();
  return size;
}

WordTable WordCounts::take(unsigned threads) {
  std::vector<WordTable> tables = std::exchange(tables_, {});
  tables_.emplace_back();
  next_position_ = 0;
  for (std::size_t i = 1; i < tables.size(); ++i)
    tables[0].add(tables[i], threads);
  return std::move(tables[0]);
}

RunSize WordCounts::spill(FunctionRef<void(ByteView)> write,
                          FunctionRef<void()> check_interrupt) {
  RunSize size;
  {
    std::vector<WordTable> tables = std::exchange(tables_, {});
    tables_.emplace_back();
    next_position_ = 0;
    size = write_run(tables, write, check_interrupt);
  }
#if defined(__GLIBC__)
  malloc_trim(0); // the memory of the tables
#endif
  return size;
}

std::size_t WordCounts::memory() const {
  std::size_t memory = 0;
  for (const WordTable &table : tables_)
    memory += table.memory();
  return memory;
}

} // namespace pretok
