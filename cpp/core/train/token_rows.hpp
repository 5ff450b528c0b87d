// Words whose first symbols are tokens of a vocabulary.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/open_table.hpp"
#include "core/train/slots.hpp"
#include "core/train/trainer_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace pretok {

// Collects rows of tokens. Equal rows become one word, whose count is the sum of theirs, unless
// the caller says that rows are distinct.
class TokenRows {
public:
  TokenRows(bool are_distinct, TrainerMemory memory)
      : are_distinct_(are_distinct), memory_(std::move(memory)) {}

  void add(const std::uint32_t *symbols, std::size_t size, std::int64_t count) {
    for (std::size_t i = 0; i < size; ++i)
      slots_.add_symbol(symbols[i]);
    slots_.end_word(count);
    if (are_distinct_)
      return;
    const std::size_t word = slots_.words() - 1;
    if (word >= NO_WORD)
      throw std::length_error("expected fewer than 4 billion distinct pre-tokens");
    table_.make_room([this](Row row) { return hash_of(row.word); });
    Row &row = table_.find_or_add(
        hash_of(word), [&](Row other) { return slots_.are_equal(other.word, word); });
    if (row.is_free()) {
      row.word = static_cast<std::uint32_t>(word);
    } else {
      slots_.add_count(row.word, count);
      slots_.drop_last_word();
    }
  }

  // Trims the memory, and moves the words to it if ordinary memory takes too much.
  void trim() {
    if (memory_.trim && memory_.trim(slots_.is_moved()) && !slots_.is_moved())
      slots_.move_to(memory_);
  }

  // Returns the words, and forgets them.
  Slots take() {
    table_.reset(0);
    return std::exchange(slots_, {});
  }

private:
  static constexpr std::uint32_t NO_WORD = static_cast<std::uint32_t>(-1);

  struct Row {
    std::uint32_t word = NO_WORD;

    bool is_free() const { return word == NO_WORD; }
  };

  std::uint64_t hash_of(std::size_t word) const { return slots_.hash_of(word, key_); }

  bool are_distinct_;
  TrainerMemory memory_;
  HashKey key_ = hash_key();
  Slots slots_;
  OpenTable<Row> table_{512};
};

} // namespace pretok
