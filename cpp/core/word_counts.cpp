#include "word_counts.hpp"

#include "batch.hpp"
#include "prefetch.hpp"
#include "safe_cut.hpp"
#include "sources.hpp"
#include "splitter.hpp"
#include "token_table.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <utility>

namespace pretok {
namespace {

constexpr std::size_t BLOCK = std::size_t{1} << 18;
// What a thread takes at a time: enough to be worth taking, and little enough to share out
// evenly.
constexpr std::size_t TASK = std::size_t{1} << 19;

std::uint64_t load8(const std::uint8_t *from) {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9E3779B97F4A7C15;
  a = (a ^ a >> 32) * 0xD6E8FEB86659FD93;
  return a ^ a >> 32;
}

// Words of more bytes have a key that others may have too.
constexpr std::size_t SHORT = 15;
constexpr std::uint64_t LONG = 0xFF;

} // namespace

WordTable::Key WordTable::prepare(ByteView bytes, const std::uint8_t *limit) const {
  const std::size_t size = bytes.size;
  Key key{};
  if (size > SHORT) {
    key.low = seed_ ^ size;
    for (std::size_t at = 0; at + 8 < size; at += 8)
      key.low = mix(key.low, load8(bytes.data + at));
    key.low = mix(key.low, load8(bytes.data + size - 8));
    key.high = LONG << 56;
  } else if (LITTLE_ENDIAN_BYTES && limit - bytes.data > static_cast<std::ptrdiff_t>(SHORT)) {
    // Without branches: sizes cannot be foretold.
    constexpr std::uint64_t all = static_cast<std::uint64_t>(-1);
    const std::uint64_t beyond = all >> (128 - 8 * size) % 64;
    key.low = load8(bytes.data) & (size < 8 ? beyond : all);
    key.high = (load8(bytes.data + 8) & (size > 8 ? beyond : 0)) | std::uint64_t{size} << 56;
  } else {
    std::uint64_t both[2] = {0, 0};
    std::memcpy(both, bytes.data, size);
    key.low = both[0];
    key.high = (LITTLE_ENDIAN_BYTES ? both[1] : both[1] >> 8) | std::uint64_t{size} << 56;
  }
  prefetch(&places_[place_of(key)]);
  return key;
}

WordTable::Place &WordTable::place_for(ByteView bytes, const Key &key, std::uint64_t first) {
  std::size_t at = place_of(key);
  for (; places_[at].word != 0; at = (at + 1) & (places_.size() - 1)) {
    if (!(places_[at].key == key))
      continue;
    const Word &word = words_[places_[at].word - 1];
    if (bytes.size <= SHORT ||
        (word.size == bytes.size && std::memcmp(word.data, bytes.data, bytes.size) == 0))
      return places_[at];
  }
  if (bytes.size > UINT32_MAX || words_.size() >= UINT32_MAX - 1)
    throw std::length_error("a pre-token of 4 GiB, or as many distinct ones");
  if ((words_.size() + 1) * 2 > places_.size()) {
    grow();
    return place_for(bytes, key, first);
  }
  words_.push_back({keep(bytes), first, 0, static_cast<std::uint32_t>(bytes.size)});
  places_[at] = {key, 0, static_cast<std::uint32_t>(words_.size())};
  return places_[at];
}

void WordTable::add(WordTable &other) {
  constexpr std::size_t AHEAD = 8;
  const std::vector<Word> &words = other.settle();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i + AHEAD < words.size())
      prepare({words[i + AHEAD].data, words[i + AHEAD].size}, words[i + AHEAD].data);
    const Word &word = words[i];
    const ByteView bytes = {word.data, word.size};
    Place &place = place_for(bytes, prepare(bytes, word.data), word.first);
    place.count += word.count;
    std::uint64_t &first = words_[place.word - 1].first;
    first = std::min(first, word.first);
  }
}

std::vector<WordTable::Word> &WordTable::settle() {
  for (const Place &place : places_)
    if (place.word != 0)
      words_[place.word - 1].count = place.count;
  return words_;
}

const std::vector<WordTable::Word> &WordTable::finish() {
  settle();
  places_ = {};
  std::sort(words_.begin(), words_.end(),
            [](const Word &a, const Word &b) { return a.first < b.first; });
  return words_;
}

std::size_t WordTable::place_of(const Key &key) const {
  return mix(key.low ^ key.high, seed_ ^ key.high) & (places_.size() - 1);
}

const std::uint8_t *WordTable::keep(ByteView bytes) {
  if (bytes.size > left_) {
    // What is left of the block before is given up, unless the word is large for any block.
    if (bytes.size > BLOCK / 8) {
      blocks_.push_back(std::make_unique<std::uint8_t[]>(bytes.size));
      std::memcpy(blocks_.back().get(), bytes.data, bytes.size);
      return blocks_.back().get();
    }
    blocks_.push_back(std::make_unique<std::uint8_t[]>(BLOCK));
    free_ = blocks_.back().get();
    left_ = BLOCK;
  }
  std::uint8_t *kept = free_;
  if (bytes.size != 0)
    std::memcpy(kept, bytes.data, bytes.size);
  free_ += bytes.size;
  left_ -= bytes.size;
  return kept;
}

void WordTable::grow() {
  const std::vector<Place> old = std::exchange(places_, std::vector<Place>(places_.size() * 2));
  for (const Place &place : old) {
    if (place.word == 0)
      continue;
    std::size_t at = place_of(place.key);
    while (places_[at].word != 0)
      at = (at + 1) & (places_.size() - 1);
    places_[at] = place;
  }
}

namespace {

// Words on the way into a table, while memory is fetched.
class Waiting {
public:
  explicit Waiting(WordTable &table) : table_(table) {}

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

} // namespace

WordCounts::WordCounts()
    : seed_(mix(static_cast<std::uint64_t>(
                    std::chrono::steady_clock::now().time_since_epoch().count()),
                reinterpret_cast<std::uintptr_t>(this))) {
  tables_.emplace_back(seed_);
}

void WordCounts::add(const Machine &machine, const std::vector<ByteView> &texts,
                     unsigned threads) {
  struct Task {
    ByteView text;
    std::uint64_t position;
  };
  std::vector<Task> tasks;
  for (ByteView text : texts) {
    while (threads > 1 && text.size > 2 * TASK) {
      const std::size_t cut = safe_cut(machine, text.data, TASK);
      if (cut == 0)
        break;
      tasks.push_back({{text.data, cut}, position_});
      position_ += cut;
      text = {text.data + cut, text.size - cut};
    }
    tasks.push_back({text, position_});
    position_ += text.size;
  }
  std::atomic<std::size_t> next{0};
  const auto share = [&](WordTable &table) {
    Waiting waiting(table);
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      const auto [text, position] = tasks[i];
      std::size_t begin = 0;
      split(machine, Utf8(text.data, text.size, machine.classes()),
            [&, data = text.data, limit = text.data + text.size,
             start = position](const std::size_t *ends, std::size_t count) {
              for (std::size_t j = 0; j < count; ++j) {
                waiting.add({data + begin, ends[j] - begin}, start + begin, limit);
                begin = ends[j];
              }
            });
    }
    waiting.finish();
  };
  const std::size_t shares = std::min<std::size_t>(threads, tasks.size());
  while (tables_.size() < shares)
    tables_.emplace_back(seed_);
  std::vector<std::function<void()>> work;
  for (std::size_t i = 0; i < shares; ++i)
    work.emplace_back([&share, &table = tables_[i]] { share(table); });
  run_all(work, threads);
}

void WordCounts::add_word(ByteView word, std::int64_t count) {
  tables_[0].add(word, count, position_);
  position_ += word.size;
}

WordTable WordCounts::take() {
  std::vector<WordTable> tables = std::exchange(tables_, {});
  tables_.emplace_back(seed_);
  position_ = 0;
  for (std::size_t i = 1; i < tables.size(); ++i)
    tables[0].add(tables[i]);
  return std::move(tables[0]);
}

} // namespace pretok
