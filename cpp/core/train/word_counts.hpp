// Counts the pre-tokens of the training texts. A distinct pre-token is called a word
// (word.hpp).
#pragma once

#include "core/base/byte_view.hpp"
#include "core/base/function_ref.hpp"
#include "core/base/scratch.hpp"
#include "core/split/fast/splitter.hpp"
#include "core/split/pre_tokenizer.hpp"
#include "core/split/sources.hpp"
#include "core/threads/parallel.hpp"
#include "core/threads/text_tasks.hpp"
#include "core/train/waiting_words.hpp"
#include "core/train/word_runs.hpp"
#include "core/train/word_table.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Counts the pre-tokens of texts that come in batches. The result depends neither on the
// batches nor on the number of threads.
class WordCounts {
public:
  WordCounts() { tables_.emplace_back(); }

  // Counts the pre-tokens of `texts`, which are Views (text_tasks.hpp). Uses at most `threads`
  // threads; 0: one per processor, or fewer for little work. Calls check_interrupt() every few
  // milliseconds and passes its exceptions on.
  template <typename View, typename InterruptCheck>
  void add(const PreTokenizer &pre_tokenizer, const std::vector<View> &texts, unsigned threads,
           InterruptCheck check_interrupt);
  // Counts the word `word` `count` times, as if it came after all texts so far.
  void add_word(ByteView word, std::int64_t count);
  // Returns the size in bytes of the longest word since the last `take`, or 0.
  std::size_t longest() const;
  // Returns the estimated size of all words in bytes.
  std::size_t size() const;
  // Returns all words in order of first appearance, and empties this object.
  WordTable take(unsigned threads);
  // Writes all words as a sorted run (word_runs.hpp), and empties this object.
  RunSize spill(FunctionRef<void(ByteView)> write, FunctionRef<void()> check_interrupt);
  // Returns the memory of the words in bytes, with the memory that the next words or `spill`
  // may take in addition.
  std::size_t memory() const;

private:
  std::uint64_t next_position_ = 0;
  std::vector<WordTable> tables_; // one per thread
};

template <typename View, typename InterruptCheck>
void WordCounts::add(const PreTokenizer &pre_tokenizer, const std::vector<View> &texts,
                     unsigned threads, InterruptCheck check_interrupt) {
  struct Worker {
    WaitingWords waiting;
    Scratch scratch;
  };
  // The results are in tables_, so run_in_order has nothing to append.
  struct EmptyResult {
    void append(EmptyResult &) {}
  };
  // Each thread counts the words of some parts of the texts. Each word gets the position of its
  // first occurrence, and `take` returns the words in the order of these positions. A position
  // is 4 times the number of code units before the part, plus the offset of the word in the
  // UTF-8 of the part. A code unit takes at most 4 bytes in UTF-8, so positions in a part are
  // lower than in the next part.
  constexpr std::uint64_t MAX_UNIT_BYTES = 4;
  std::vector<std::uint64_t> positions;
  positions.reserve(texts.size());
  std::uint64_t size = 0; // may exceed SIZE_MAX, since `texts` may contain one text many times
  for (const View &text : texts) {
    positions.push_back(next_position_ + size * MAX_UNIT_BYTES);
    size += text.size();
  }
  const AddedTokens none({}, {});
  const TaskPlan plan =
      plan_tasks(static_cast<std::size_t>(std::min<std::uint64_t>(size, SIZE_MAX)), threads);
  const auto may_cut = [](const View &) { return true; };
  const TextTasks<View> tasks(texts, plan.task_size, pre_tokenizer, nullptr, none, may_cut);
  while (tables_.size() < plan.threads && tables_.size() < tasks.count())
    tables_.emplace_back();
  std::atomic<std::size_t> next{0};
  EmptyResult total;
  run_in_order(
      tasks.count(), plan.threads, total,
      [&] { return Worker{WaitingWords(tables_[next++]), {}}; },
      [&](std::size_t task, Worker &worker, EmptyResult &) {
        // Counts the words of a text, or of a part of a text that begins at code unit `start`.
        const auto add_text = [&](std::size_t text, std::size_t start, const std::uint8_t *data,
                                  std::size_t bytes, bool /*is_last*/) {
          std::size_t begin = 0;
          const std::uint64_t position = positions[text] + start * MAX_UNIT_BYTES;
          split(pre_tokenizer, Utf8(data, bytes, pre_tokenizer.classes()),
                [&](const std::size_t *ends, std::size_t count) {
                  for (std::size_t i = 0; i < count; ++i) {
                    worker.waiting.add({data + begin, ends[i] - begin}, position + begin,
                                       data + bytes);
                    begin = ends[i];
                  }
                });
          if (worker.scratch.owns(data))
            worker.waiting.finish(); // before the next text reuses the scratch memory
          return true;               // go on with the next text of the task
        };
        tasks.run(task, worker.scratch, add_text);
        worker.waiting.finish();
      },
      /*on_progress=*/[](const EmptyResult &) { return true; }, check_interrupt);
  next_position_ += size * MAX_UNIT_BYTES;
}

} // namespace pretok
