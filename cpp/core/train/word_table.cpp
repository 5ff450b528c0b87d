#include "core/train/word_table.hpp"

#include "core/threads/run_all.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace pretok {
namespace {

// The size of a block of memory that many words share.
constexpr std::size_t WORD_BLOCK_BYTES = std::size_t{1} << 18;

} // namespace

ShortKey WordTable::prepare(ByteView bytes, const std::uint8_t *limit) const {
  const ShortKey key = ShortKey::of_any(bytes.data, bytes.size, limit, hash_key_);
  slots_.prefetch(key.hash(hash_key_));
  return key;
}

bool WordTable::is_match(const Slot &slot, ByteView bytes, const ShortKey &key) const {
  if (!(slot.key == key) || bytes.size <= ShortKey::MAX_BYTES)
    return slot.key == key;
  const Word &word = words_[slot.word];
  return word.size == bytes.size && std::memcmp(word.data, bytes.data, bytes.size) == 0;
}

WordTable::Slot &WordTable::find_or_add(ByteView bytes, const ShortKey &key) {
  slots_.make_room([this](const Slot &slot) { return slot.key.hash(hash_key_); });
  return slots_.find_or_add(key.hash(hash_key_),
                            [&](const Slot &slot) { return is_match(slot, bytes, key); });
}

// Returns the slot of a word. A new word gets count 0 and this position.
WordTable::Slot &WordTable::find_or_insert(ByteView bytes, const ShortKey &key,
                                           std::uint64_t position) {
  Slot &slot = find_or_add(bytes, key);
  if (!slot.is_free())
    return slot;
  if (bytes.size > UINT32_MAX || words_.size() >= NO_WORD - 1)
    throw std::length_error(
        "expected pre-tokens below 4 GiB, and fewer than 4 billion distinct ones");
  words_.push_back({store_bytes(bytes), position, 0, static_cast<std::uint32_t>(bytes.size)});
  slot = {key, 0, static_cast<std::uint32_t>(words_.size() - 1)};
  return slot;
}

void WordTable::add(WordTable &other, unsigned threads) {
  store_counts();
  other.store_counts();
  fill_slots();
  const std::vector<Word> &words = other.words_;
  // indices[i] is the index in this->words_ of the word that equals other.words_[i], or
  // NO_WORD. Several threads fill `indices`, because the searches mostly wait for memory.
  std::vector<std::uint32_t> indices(words.size());
  std::vector<std::function<void()>> work;
  const std::size_t share = words.size() / std::max(threads, 1U) + 1;
  for (std::size_t start = 0; start < words.size(); start += share)
    work.emplace_back([&, start] {
      constexpr std::size_t AHEAD = 8; // the prefetch distance, in words
      const auto bytes_of = [&words](std::size_t i) {
        return ByteView{words[i].data, words[i].size};
      };
      const std::size_t end = std::min(words.size(), start + share);
      for (std::size_t i = start; i < end; ++i) {
        if (i + AHEAD < end)
          prepare(bytes_of(i + AHEAD), words[i + AHEAD].data);
        const ShortKey key = prepare(bytes_of(i), words[i].data);
        indices[i] =
            slots_
                .find(key.hash(hash_key_),
                      [&](const Slot &slot) { return is_match(slot, bytes_of(i), key); })
                .word;
      }
    });
  run_all(work, threads);
  // Word::first is the position at which a word first occurs. A word that both tables have
  // keeps the entry with the smaller `first`. new_words gets the entries of `other` that are
  // kept, and is_moved marks the entries of words_ that they replace. Then the rest of words_
  // and new_words are merged into one list. Both are sorted by `first`.
  std::vector<bool> is_moved(words_.size());
  std::vector<Word> new_words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    Word word = words[i];
    if (indices[i] != NO_WORD) {
      Word &own_word = words_[indices[i]];
      own_word.count += word.count;
      if (own_word.first < word.first)
        continue;
      word.count = own_word.count;
      is_moved[indices[i]] = true;
    }
    new_words.push_back(word);
  }
  std::vector<Word> merged;
  merged.reserve(words_.size() + words.size());
  auto next = new_words.begin();
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (is_moved[i])
      continue;
    for (; next != new_words.end() && next->first < words_[i].first; ++next)
      merged.push_back(*next);
    merged.push_back(words_[i]);
  }
  merged.insert(merged.end(), next, new_words.end());
  if (merged.size() >= NO_WORD)
    throw std::length_error("expected fewer than 4 billion distinct pre-tokens");
  words_ = std::move(merged);
  std::move(other.blocks_.begin(), other.blocks_.end(), std::back_inserter(blocks_));
  other = WordTable(hash_key_);
  are_slots_filled_ = false;
}

// Copies the counts from the slots to words_.
void WordTable::store_counts() {
  if (are_counts_stored_)
    return;
  are_counts_stored_ = true;
  for (const Slot &slot : slots_)
    if (!slot.is_free())
      words_[slot.word].count = slot.count;
}

// Rebuilds the slots from words_.
void WordTable::fill_slots() {
  if (are_slots_filled_)
    return;
  are_slots_filled_ = true;
  slots_.reset(words_.size());
  for (std::uint32_t i = 0; i < words_.size(); ++i) {
    const ByteView bytes{words_[i].data, words_[i].size};
    const ShortKey key = prepare(bytes, bytes.data); // no byte after a word may be read
    find_or_add(bytes, key) = {key, 0, i};
  }
}

const std::vector<Word> &WordTable::finish() {
  store_counts();
  slots_.reset(0);
  return words_;
}

std::size_t WordTable::memory() const {
  constexpr std::size_t SORT_BYTES = 16;
  const auto with_growth = [](std::size_t used, std::size_t limit, std::size_t bytes) {
    return used >= limit - limit / 4 ? 3 * bytes : bytes;
  };
  return block_bytes_ + words_.size() * SORT_BYTES +
         with_growth(words_.size(), words_.capacity(), words_.capacity() * sizeof(Word)) +
         with_growth(slots_.size(), slots_.limit(), slots_.memory());
}

const std::uint8_t *WordTable::store_bytes(ByteView bytes) {
  longest_ = std::max(longest_, bytes.size);
  bytes_ += bytes.size;
  if (bytes.size > block_bytes_left_) {
    // A large word gets a block of its own. A new shared block would waste the rest of the
    // current block.
    if (bytes.size > WORD_BLOCK_BYTES / 8) {
      blocks_.push_back(std::make_unique<std::uint8_t[]>(bytes.size));
      block_bytes_ += bytes.size;
      std::memcpy(blocks_.back().get(), bytes.data, bytes.size);
      return blocks_.back().get();
    }
    blocks_.push_back(std::make_unique<std::uint8_t[]>(WORD_BLOCK_BYTES));
    block_bytes_ += WORD_BLOCK_BYTES;
    block_end_ = blocks_.back().get();
    block_bytes_left_ = WORD_BLOCK_BYTES;
  }
  std::uint8_t *stored = block_end_;
  if (bytes.size != 0)
    std::memcpy(stored, bytes.data, bytes.size);
  block_end_ += bytes.size;
  block_bytes_left_ -= bytes.size;
  return stored;
}

} // namespace pretok
