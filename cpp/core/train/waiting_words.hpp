// A queue of words for which WordTable::prepare was called, and WordTable::add was not called
// yet.
#pragma once

#include "core/base/byte_view.hpp"
#include "core/train/word_table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

// Delays adding words to a table until their slots are prefetched.
class WaitingWords {
public:
  explicit WaitingWords(WordTable &table) : table_(table) {}

  // Prepares a word. Adds to the table the word that was prepared 16 calls earlier. `bytes`
  // must stay valid until the table has the word. `limit` is the end of
  // the readable memory (WordTable::prepare).
  void add(ByteView bytes, std::uint64_t position, const std::uint8_t *limit) {
    Waiting &word = words_[next_++ % words_.size()];
    if (next_ > words_.size())
      table_.add(word.bytes, word.key, 1, word.position);
    word = {bytes, table_.prepare(bytes, limit), position};
  }

  // Adds all waiting words to the table.
  void finish() {
    for (std::size_t i = next_ - std::min(next_, words_.size()); i < next_; ++i) {
      const Waiting &word = words_[i % words_.size()];
      table_.add(word.bytes, word.key, 1, word.position);
    }
    next_ = 0;
  }

private:
  struct Waiting {
    ByteView bytes;
    ShortKey key;
    std::uint64_t position;
  };

  WordTable &table_;
  std::array<Waiting, 16> words_{};
  std::size_t next_ = 0;
};

} // namespace pretok
