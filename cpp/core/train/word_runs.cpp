#include "core/train/word_runs.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace pretok {
namespace {

constexpr std::size_t RUN_BLOCK_BYTES = std::size_t{1} << 18;
// The number of words between two calls of check_interrupt.
constexpr std::uint64_t WORDS_PER_CHECK = 1 << 14;

// Returns the first 8 bytes of a word as a number that compares like them.
std::uint64_t prefix_of(ByteView word) {
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < 8; ++i)
    prefix = prefix << 8 | (i < word.size ? word.data[i] : 0U);
  return prefix;
}

int compare_words(ByteView a, ByteView b) {
  const std::size_t size = std::min(a.size, b.size);
  const int order = size == 0 ? 0 : std::memcmp(a.data, b.data, size);
  if (order != 0)
    return order;
  return a.size < b.size ? -1 : a.size > b.size ? 1 : 0;
}

} // namespace

void RunWriter::put(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7)
    block_.push_back(static_cast<std::uint8_t>(number | 0x80));
  block_.push_back(static_cast<std::uint8_t>(number));
}

void RunWriter::add(ByteView word, std::int64_t count, std::uint64_t first) {
  std::size_t shared = 0;
  while (shared < word.size && shared < last_.size() && word.data[shared] == last_[shared])
    ++shared;
  put(shared);
  put(word.size - shared);
  block_.insert(block_.end(), word.data + shared, word.data + word.size);
  put(static_cast<std::uint64_t>(count));
  put(first);
  last_.assign(word.data, word.data + word.size);
  ++size_.words;
  size_.bytes += word.size;
  size_.total += count * static_cast<std::int64_t>(word.size);
  if (block_.size() >= RUN_BLOCK_BYTES)
    finish();
}

void RunWriter::finish() {
  if (!block_.empty())
    write_({block_.data(), block_.size()});
  block_.clear();
  last_.clear();
}

std::uint64_t RunReader::take() {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.size == 0)
      break;
    const std::uint8_t byte = *rest_.data;
    rest_ = {rest_.data + 1, rest_.size - 1};
    number |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80)
      return number;
  }
  throw std::invalid_argument("expected a run of words, got a malformed block");
}

bool RunReader::next() {
  if (rest_.size == 0) {
    rest_ = next_block_();
    word_.clear();
    if (rest_.size == 0)
      return false;
  }
  const std::uint64_t shared = take();
  const std::uint64_t size = take();
  if (shared > word_.size() || size > rest_.size)
    throw std::invalid_argument("expected a run of words, got a malformed block");
  word_.resize(static_cast<std::size_t>(shared));
  word_.insert(word_.end(), rest_.data, rest_.data + size);
  rest_ = {rest_.data + size, rest_.size - static_cast<std::size_t>(size)};
  count_ = static_cast<std::int64_t>(take());
  first_ = base_ + take();
  return true;
}

RunSize write_run(std::vector<WordTable> &tables, FunctionRef<void(ByteView)> write,
                  FunctionRef<void()> check_interrupt) {
  struct Entry {
    std::uint64_t prefix;
    const Word *word;
  };
  const auto view = [](const Word &word) { return ByteView{word.data, word.size}; };
  std::vector<const std::vector<Word> *> lists;
  std::size_t count = 0;
  for (WordTable &table : tables) {
    lists.push_back(&table.finish());
    count += lists.back()->size();
  }
  std::vector<Entry> entries;
  entries.reserve(count);
  for (const std::vector<Word> *words : lists)
    for (const Word &word : *words)
      entries.push_back({prefix_of(view(word)), &word});
  std::sort(entries.begin(), entries.end(), [&](const Entry &a, const Entry &b) {
    return a.prefix != b.prefix ? a.prefix < b.prefix
                                : compare_words(view(*a.word), view(*b.word)) < 0;
  });
  RunWriter writer(write);
  for (std::size_t i = 0; i < entries.size();) {
    const Word &word = *entries[i].word;
    std::int64_t total = 0;
    std::uint64_t first = word.first;
    do { // several tables may have the word
      total += entries[i].word->count;
      first = std::min(first, entries[i].word->first);
      ++i;
    } while (i < entries.size() && compare_words(view(*entries[i].word), view(word)) == 0);
    writer.add(view(word), total, first);
    if (writer.size().words % WORDS_PER_CHECK == 0)
      check_interrupt();
  }
  writer.finish();
  return writer.size();
}

RunSize merge_runs(std::vector<RunReader> &runs, FunctionRef<void(ByteView)> write,
                   FunctionRef<void()> check_interrupt) {
  struct Entry {
    std::uint64_t prefix;
    RunReader *run;
  };
  const auto is_later = [](const Entry &a, const Entry &b) {
    return a.prefix != b.prefix ? a.prefix > b.prefix
                                : compare_words(a.run->word(), b.run->word()) > 0;
  };
  std::vector<Entry> heap;
  const auto push = [&](RunReader &run) {
    if (!run.next())
      return;
    heap.push_back({prefix_of(run.word()), &run});
    std::push_heap(heap.begin(), heap.end(), is_later);
  };
  const auto pop = [&]() -> RunReader & {
    std::pop_heap(heap.begin(), heap.end(), is_later);
    RunReader &run = *heap.back().run;
    heap.pop_back();
    return run;
  };
  for (RunReader &run : runs)
    push(run);
  RunWriter writer(write);
  std::vector<std::uint8_t> word;
  while (!heap.empty()) {
    RunReader &run = pop();
    word.assign(run.word().data, run.word().data + run.word().size);
    const ByteView view{word.data(), word.size()};
    std::int64_t count = run.count();
    std::uint64_t first = run.first();
    push(run);
    while (!heap.empty() && compare_words(heap.front().run->word(), view) == 0) {
      RunReader &same = pop();
      count += same.count();
      first = std::min(first, same.first());
      push(same);
    }
    writer.add(view, count, first);
    if (writer.size().words % WORDS_PER_CHECK == 0)
      check_interrupt();
  }
  writer.finish();
  return writer.size();
}

} // namespace pretok
