// Counting distinct pre-tokens: what training needs to know of its text.
#pragma once

#include "core/base/hash.hpp"
#include "core/base/scratch.hpp"
#include "core/split/fast/splitter.hpp"
#include "core/split/pre_tokenizer.hpp"
#include "core/split/sources.hpp"
#include "core/threads/parallel.hpp"
#include "core/threads/text_tasks.hpp"

#include <algorithm>
#include <array>
#include <atomic>
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

  // Other keys give other places in memory, and the same results.
  explicit WordTable(const HashKey &key = hash_key()) : hash_key_(key), places_(1024) {}

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
  // Adds all that is in another table, of the same key, and empties that one. In both, words
  // must have been added in the order of Word::first. Nothing else can be added any more.
  void add(WordTable &other, unsigned threads);
  // How many bytes the longest word has.
  std::size_t longest() const { return longest_; }
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
  const Word *find(ByteView bytes, const Key &key) const;
  void settle();
  void enter_words();
  void grow();

  HashKey hash_key_;
  std::vector<Word> words_;
  std::vector<Place> places_; // open addressing
  std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
  std::uint8_t *free_ = nullptr;
  std::size_t left_ = 0;
  std::size_t longest_ = 0;
  bool is_settled_ = false; // whether the counts are those of words_
  bool are_entered_ = true; // whether words_ are in the places
};

// Words on the way into a table, while memory is fetched.
class WaitingWords {
public:
  explicit WaitingWords(WordTable &table) : table_(table) {}

  void add(ByteView bytes, std::uint64_t first, const std::uint8_t *limit) {
    Word &word = words_[next_++ % words_.size()];
    if (next_ > words_.size())
      table_.add(word.bytes, word.key, 1, word.first);
    word = {bytes, table_.prepare(bytes, limit), first};
  }

  void finish() {
    for (std::size_t i = next_ - std::min(next_, words_.size()); i < next_; ++i) {
      const Word &word = words_[i % words_.size()];
      table_.add(word.bytes, word.key, 1, word.first);
    }
    next_ = 0;
  }

private:
  struct Word {
    ByteView bytes;
    WordTable::Key key;
    std::uint64_t first;
  };

  WordTable &table_;
  std::array<Word, 16> words_{};
  std::size_t next_ = 0;
};

// Counts the pre-tokens of texts that come in batches; the result does not depend on how the
// texts are put into batches, nor on the number of threads.
class WordCounts {
public:
  WordCounts() { tables_.emplace_back(); }

  // Counts the pre-tokens of `texts`, each a View, as TextTasks has it, and a text by itself.
  // `threads` is what share calls `asked`. pulse() is called every few milliseconds; what it
  // throws is thrown here.
  template <typename View, typename Pulse>
  void add(const PreTokenizer &pre_tokenizer, const std::vector<View> &texts, unsigned threads,
           Pulse pulse);
  void add_word(ByteView word, std::int64_t count);
  // How many bytes the longest word has that was counted since `take`.
  std::size_t longest() const;
  // Returns all that was counted, by where it first appeared, and starts anew.
  WordTable take(unsigned threads);

private:
  std::uint64_t position_ = 0;
  std::vector<WordTable> tables_; // one for each thread
};

template <typename View, typename Pulse>
void WordCounts::add(const PreTokenizer &pre_tokenizer, const std::vector<View> &texts,
                     unsigned threads, Pulse pulse) {
  struct Worker {
    WaitingWords waiting;
    Scratch scratch;
  };
  struct Nothing {
    void append(Nothing &) {}
  };
  // A unit is at most 4 bytes, so that places in the texts are in order.
  constexpr std::uint64_t MOST = 4;
  std::vector<std::uint64_t> positions;
  positions.reserve(texts.size());
  std::uint64_t size = 0; // the same text may be there more than once
  for (const View &text : texts) {
    positions.push_back(position_ + size * MOST);
    size += text.size();
  }
  const AddedTokens none({}, {});
  const Sharing sharing =
      share(static_cast<std::size_t>(std::min<std::uint64_t>(size, SIZE_MAX)), threads);
  const TextTasks<View> tasks(texts, sharing.task, pre_tokenizer, none, false);
  while (tables_.size() < sharing.threads && tables_.size() < tasks.count())
    tables_.emplace_back();
  std::atomic<std::size_t> next{0};
  Nothing total;
  run_in_order(
      tasks.count(), sharing.threads, total,
      [&] { return Worker{WaitingWords(tables_[next++]), {}}; },
      [&](std::size_t task, Worker &worker, Nothing &) {
        const auto add_text = [&](std::size_t text, std::size_t start, const std::uint8_t *data,
                                  std::size_t bytes, bool) {
          std::size_t begin = 0;
          const std::uint64_t position = positions[text] + start * MOST;
          split(pre_tokenizer, Utf8(data, bytes, pre_tokenizer.classes()),
                [&](const std::size_t *ends, std::size_t count) {
                  for (std::size_t i = 0; i < count; ++i) {
                    worker.waiting.add({data + begin, ends[i] - begin}, position + begin,
                                       data + bytes);
                    begin = ends[i];
                  }
                });
          if (worker.scratch.has(data))
            worker.waiting.finish(); // before other text is put there
          return true;
        };
        tasks.run(task, worker.scratch, add_text);
        worker.waiting.finish();
      },
      [](const Nothing &) { return true; }, pulse);
  position_ += size * MOST;
}

} // namespace pretok
