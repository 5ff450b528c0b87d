#include "core/train/word_table.hpp"

#include "core/base/bits.hpp"
#include "core/base/prefetch.hpp"
#include "core/threads/run_all.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace pretok {
namespace {

constexpr std::size_t WORD_BLOCK_BYTES = std::size_t{1} << 18;

// A word of at most this size is its own key. The key of a longer word is a hash, so several
// words may have the same key.
constexpr std::size_t MAX_EXACT_BYTES = 15;
constexpr std::uint64_t LONG_KEY_MARK = 0xFF;

constexpr std::uint32_t NO_WORD = static_cast<std::uint32_t>(-1);

} // namespace

WordTable::Key WordTable::prepare(ByteView bytes, const std::uint8_t *limit) const {
  const std::size_t size = bytes.size;
  Key key{};
  if (size > MAX_EXACT_BYTES) {
    key.low = hash_long(bytes.data, size, hash_key_);
    key.high = LONG_KEY_MARK << 56;
  } else if (LITTLE_ENDIAN_BYTES &&
             limit - bytes.data > static_cast<std::ptrdiff_t>(MAX_EXACT_BYTES)) {
    // Avoid branches, because the size is unpredictable. `kept` is the mask for the last part
    // of the word, which has 1 to 8 bytes. A word is never empty.
    constexpr std::uint64_t all = static_cast<std::uint64_t>(-1);
    const std::uint64_t kept = all >> (128 - 8 * size) % 64;
    key.low = load_word(bytes.data) & (size < 8 ? kept : all);
    key.high = (load_word(bytes.data + 8) & (size > 8 ? kept : 0)) | std::uint64_t{size} << 56;
  } else {
    std::uint64_t both[2] = {0, 0};
    std::memcpy(both, bytes.data, size);
    key.low = both[0];
    key.high = (LITTLE_ENDIAN_BYTES ? both[1] : both[1] >> 8) | std::uint64_t{size} << 56;
  }
  prefetch(&slots_[slot_index(key)]);
  return key;
}

// Returns the slot of a word. A new word gets count 0 and this position.
WordTable::Slot &WordTable::find_or_insert(ByteView bytes, const Key &key,
                                           std::uint64_t position) {
  std::size_t at = slot_index(key);
  for (; slots_[at].word != 0; at = (at + 1) & (slots_.size() - 1)) {
    if (!(slots_[at].key == key))
      continue;
    const Word &word = words_[slots_[at].word - 1];
    if (bytes.size <= MAX_EXACT_BYTES ||
        (word.size == bytes.size && std::memcmp(word.data, bytes.data, bytes.size) == 0))
      return slots_[at];
  }
  if (bytes.size > UINT32_MAX || words_.size() >= UINT32_MAX - 1)
    throw std::length_error(
        "expected pre-tokens below 4 GiB, and fewer than 4 billion distinct ones");
  if ((words_.size() + 1) * 2 > slots_.size()) {
    grow();
    return find_or_insert(bytes, key, position);
  }
  words_.push_back({store_bytes(bytes), position, 0, static_cast<std::uint32_t>(bytes.size)});
  slots_[at] = {key, 0, static_cast<std::uint32_t>(words_.size())};
  return slots_[at];
}

// Returns the word, or nullptr if the table does not have it.
const Word *WordTable::find(ByteView bytes, const Key &key) const {
  for (std::size_t at = slot_index(key); slots_[at].word != 0;
       at = (at + 1) & (slots_.size() - 1))
    if (slots_[at].key == key) {
      const Word &word = words_[slots_[at].word - 1];
      if (bytes.size <= MAX_EXACT_BYTES ||
          (word.size == bytes.size && std::memcmp(word.data, bytes.data, bytes.size) == 0))
        return &word;
    }
  return nullptr;
}

void WordTable::add(WordTable &other, unsigned threads) {
  store_counts();
  other.store_counts();
  fill_slots();
  const std::vector<Word> &words = other.words_;
  // indices[i] is for the word other.words_[i]: the index of an equal word in this->words_, or
  // NO_WORD. Several threads fill `indices`, because the searches mostly wait for memory.
  std::vector<std::uint32_t> indices(words.size());
  std::vector<std::function<void()>> work;
  const std::size_t share = words.size() / std::max(threads, 1U) + 1;
  for (std::size_t start = 0; start < words.size(); start += share)
    work.emplace_back([&, start] {
      constexpr std::size_t AHEAD = 8;
      const auto bytes_of = [&words](std::size_t i) {
        return ByteView{words[i].data, words[i].size};
      };
      const std::size_t end = std::min(words.size(), start + share);
      for (std::size_t i = start; i < end; ++i) {
        if (i + AHEAD < end)
          prepare(bytes_of(i + AHEAD), words[i + AHEAD].data);
        const Word *known = find(bytes_of(i), prepare(bytes_of(i), words[i].data));
        indices[i] =
            known == nullptr ? NO_WORD : static_cast<std::uint32_t>(known - words_.data());
      }
    });
  run_all(work, threads);
  // Word::first is the position at which a word first occurs. A word of both tables belongs to
  // the table with the smaller `first`. new_words gets the words that belong to the other
  // table, and is_moved marks their entries in words_. Then merge the other entries of words_
  // with new_words. Both are sorted by `first`.
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
    if (slot.word != 0)
      words_[slot.word - 1].count = slot.count;
}

// Rebuilds the slots from words_.
void WordTable::fill_slots() {
  if (are_slots_filled_)
    return;
  are_slots_filled_ = true;
  std::size_t size = 1024;
  while (size < words_.size() * 2)
    size *= 2;
  slots_.assign(size, Slot());
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const Key key = prepare({words_[i].data, words_[i].size}, words_[i].data);
    std::size_t at = slot_index(key);
    while (slots_[at].word != 0)
      at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {key, 0, static_cast<std::uint32_t>(i + 1)};
  }
}

const std::vector<Word> &WordTable::finish() {
  store_counts();
  slots_ = {};
  return words_;
}

std::size_t WordTable::slot_index(const Key &key) const {
  return hash_words(key.low, key.high, hash_key_) & (slots_.size() - 1);
}

const std::uint8_t *WordTable::store_bytes(ByteView bytes) {
  longest_ = std::max(longest_, bytes.size);
  if (bytes.size > block_bytes_left_) {
    // A large word gets a block of its own. A new shared block would waste the rest of the
    // current block.
    if (bytes.size > WORD_BLOCK_BYTES / 8) {
      blocks_.push_back(std::make_unique<std::uint8_t[]>(bytes.size));
      std::memcpy(blocks_.back().get(), bytes.data, bytes.size);
      return blocks_.back().get();
    }
    blocks_.push_back(std::make_unique<std::uint8_t[]>(WORD_BLOCK_BYTES));
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

void WordTable::grow() {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
  for (const Slot &slot : old) {
    if (slot.word == 0)
      continue;
    std::size_t at = slot_index(slot.key);
    while (slots_[at].word != 0)
      at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

} // namespace pretok
