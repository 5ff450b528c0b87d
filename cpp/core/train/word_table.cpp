#include "core/train/word_table.hpp"

#include "core/base/bits.hpp"
#include "core/base/prefetch.hpp"
#include "core/threads/batch.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace pretok {
namespace {

constexpr std::size_t WORD_BLOCK_BYTES = std::size_t{1} << 18;

// Words of more bytes have a key that others may have too.
constexpr std::size_t MAX_EXACT_BYTES = 15;
constexpr std::uint64_t LONG_MARK = 0xFF;

constexpr std::uint32_t NO_WORD = static_cast<std::uint32_t>(-1);

} // namespace

WordTable::Key WordTable::prepare(ByteView bytes, const std::uint8_t *limit) const {
  const std::size_t size = bytes.size;
  Key key{};
  if (size > MAX_EXACT_BYTES) {
    key.low = hash_long(bytes.data, size, hash_key_);
    key.high = LONG_MARK << 56;
  } else if (LITTLE_ENDIAN_BYTES &&
             limit - bytes.data > static_cast<std::ptrdiff_t>(MAX_EXACT_BYTES)) {
    // Without branches: sizes cannot be foretold.
    constexpr std::uint64_t all = static_cast<std::uint64_t>(-1);
    const std::uint64_t beyond = all >> (128 - 8 * size) % 64;
    key.low = load_word(bytes.data) & (size < 8 ? beyond : all);
    key.high = (load_word(bytes.data + 8) & (size > 8 ? beyond : 0)) | std::uint64_t{size}
                                                                           << 56;
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
    if (bytes.size <= MAX_EXACT_BYTES ||
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

const Word *WordTable::find(ByteView bytes, const Key &key) const {
  for (std::size_t at = place_of(key); places_[at].word != 0;
       at = (at + 1) & (places_.size() - 1))
    if (places_[at].key == key) {
      const Word &word = words_[places_[at].word - 1];
      if (bytes.size <= MAX_EXACT_BYTES ||
          (word.size == bytes.size && std::memcmp(word.data, bytes.data, bytes.size) == 0))
        return &word;
    }
  return nullptr;
}

void WordTable::add(WordTable &other, unsigned threads) {
  settle();
  other.settle();
  enter_words();
  const std::vector<Word> &words = other.words_;
  // Where each is here. This is what takes time: it waits for memory.
  std::vector<std::uint32_t> places(words.size());
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
        const Word *found = find(bytes_of(i), prepare(bytes_of(i), words[i].data));
        places[i] =
            found == nullptr ? NO_WORD : static_cast<std::uint32_t>(found - words_.data());
      }
    });
  run_all(work, threads);
  // Both tables have their words in the order of Word::first, and so have the words that are
  // first in one, and those that are first in the other.
  std::vector<bool> is_moved(words_.size());
  std::vector<Word> first_there;
  for (std::size_t i = 0; i < words.size(); ++i) {
    Word word = words[i];
    if (places[i] != NO_WORD) {
      Word &here = words_[places[i]];
      here.count += word.count;
      if (here.first < word.first)
        continue;
      word.count = here.count;
      is_moved[places[i]] = true;
    }
    first_there.push_back(word);
  }
  std::vector<Word> merged;
  merged.reserve(words_.size() + words.size());
  auto next = first_there.begin();
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (is_moved[i])
      continue;
    for (; next != first_there.end() && next->first < words_[i].first; ++next)
      merged.push_back(*next);
    merged.push_back(words_[i]);
  }
  merged.insert(merged.end(), next, first_there.end());
  if (merged.size() >= NO_WORD)
    throw std::length_error("4 billion distinct pre-tokens");
  words_ = std::move(merged);
  std::move(other.blocks_.begin(), other.blocks_.end(), std::back_inserter(blocks_));
  other = WordTable(hash_key_);
  are_entered_ = false;
}

// Takes the counts over from the places.
void WordTable::settle() {
  if (is_settled_)
    return;
  is_settled_ = true;
  for (const Place &place : places_)
    if (place.word != 0)
      words_[place.word - 1].count = place.count;
}

// Puts words_, which may have changed, into the places.
void WordTable::enter_words() {
  if (are_entered_)
    return;
  are_entered_ = true;
  std::size_t size = 1024;
  while (size < words_.size() * 2)
    size *= 2;
  places_.assign(size, Place());
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const Key key = prepare({words_[i].data, words_[i].size}, words_[i].data);
    std::size_t at = place_of(key);
    while (places_[at].word != 0)
      at = (at + 1) & (places_.size() - 1);
    places_[at] = {key, 0, static_cast<std::uint32_t>(i + 1)};
  }
}

const std::vector<Word> &WordTable::finish() {
  settle();
  places_ = {};
  return words_;
}

std::size_t WordTable::place_of(const Key &key) const {
  return hash_words(key.low, key.high, hash_key_) & (places_.size() - 1);
}

const std::uint8_t *WordTable::keep(ByteView bytes) {
  longest_ = std::max(longest_, bytes.size);
  if (bytes.size > left_) {
    // What is left of the block before is given up, unless the word is large for any block.
    if (bytes.size > WORD_BLOCK_BYTES / 8) {
      blocks_.push_back(std::make_unique<std::uint8_t[]>(bytes.size));
      std::memcpy(blocks_.back().get(), bytes.data, bytes.size);
      return blocks_.back().get();
    }
    blocks_.push_back(std::make_unique<std::uint8_t[]>(WORD_BLOCK_BYTES));
    free_ = blocks_.back().get();
    left_ = WORD_BLOCK_BYTES;
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

} // namespace pretok
