#include "word_counts.hpp"

#include "batch.hpp"
#include "safe_cut.hpp"
#include "sources.hpp"
#include "splitter.hpp"

#include <algorithm>
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

std::uint64_t load4(const std::uint8_t *from) {
  std::uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Up to 8 bytes, `size` of them, as a number that tells those of one size apart.
std::uint64_t load_short(const std::uint8_t *from, std::size_t size) {
  if (size >= 4)
    return load4(from) | load4(from + size - 4) << 32;
  if (size == 0)
    return 0;
  return from[0] | std::uint64_t{from[size / 2]} << 8 | std::uint64_t{from[size - 1]} << 16;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9E3779B97F4A7C15;
  a = (a ^ a >> 32) * 0xD6E8FEB86659FD93;
  return a ^ a >> 32;
}

std::uint64_t hash_of(const std::uint8_t *data, std::size_t size, std::uint64_t seed) {
  std::uint64_t hash = seed ^ size;
  std::size_t at = 0;
  for (; size - at > 8; at += 8)
    hash = mix(hash, load8(data + at));
  return mix(hash, load_short(data + at, size - at));
}

bool same(const std::uint8_t *a, const std::uint8_t *b, std::size_t size) {
  if (size > 8)
    return std::memcmp(a, b, size) == 0;
  return load_short(a, size) == load_short(b, size);
}

} // namespace

WordTable::WordTable(std::uint64_t seed) : seed_(seed), places_(1024) {}

void WordTable::add(ByteView bytes, std::int64_t count, std::uint64_t first) {
  const auto hash = static_cast<std::uint32_t>(hash_of(bytes.data, bytes.size, seed_) >> 32);
  const std::size_t mask = places_.size() - 1;
  for (std::size_t place = hash & mask;; place = (place + 1) & mask) {
    const std::uint64_t found = places_[place];
    if (found == 0)
      break;
    if (found >> 32 != hash)
      continue;
    Word &word = words_[static_cast<std::uint32_t>(found) - 1];
    if (word.size == bytes.size && same(word.data, bytes.data, bytes.size)) {
      word.count += count;
      return;
    }
  }
  if (bytes.size > UINT32_MAX || words_.size() >= UINT32_MAX - 1)
    throw std::length_error("a pre-token of 4 GiB, or as many distinct ones");
  words_.push_back({keep(bytes), static_cast<std::uint32_t>(bytes.size), hash, count, first});
  grow();
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

// Enters the word that was added last, and keeps at least half of the places free.
void WordTable::grow() {
  std::size_t from = words_.size() - 1;
  if (words_.size() * 2 > places_.size()) {
    places_.assign(places_.size() * 2, 0);
    from = 0;
  }
  const std::size_t mask = places_.size() - 1;
  for (std::size_t index = from; index < words_.size(); ++index) {
    std::size_t place = words_[index].hash & mask;
    while (places_[place] != 0)
      place = (place + 1) & mask;
    places_[place] = std::uint64_t{words_[index].hash} << 32 | (index + 1);
  }
}

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
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      const auto [text, position] = tasks[i];
      std::size_t begin = 0;
      split(machine, Utf8(text.data, text.size, machine.classes()),
            [&, data = text.data, start = position](std::size_t end) {
              table.add({data + begin, end - begin}, 1, start + begin);
              begin = end;
            });
    }
  };
  while (tables_.size() < threads)
    tables_.emplace_back(seed_);
  std::vector<std::function<void()>> work;
  for (std::size_t i = 0; i < std::max(threads, 1U); ++i)
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
  // A thread takes its tasks in order, so in each table the words are.
  if (std::all_of(tables.begin() + 1, tables.end(),
                  [](const WordTable &table) { return table.words().empty(); }))
    return std::move(tables[0]);
  std::vector<const WordTable::Word *> all;
  for (const WordTable &table : tables)
    for (const WordTable::Word &word : table.words())
      all.push_back(&word);
  std::sort(all.begin(), all.end(),
            [](const auto *a, const auto *b) { return a->first < b->first; });
  WordTable merged(seed_);
  for (const WordTable::Word *word : all)
    merged.add({word->data, word->size}, word->count, word->first);
  return merged;
}

} // namespace pretok
