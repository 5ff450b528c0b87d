#include "trainer.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <unordered_set>
#include <utility>

namespace pretok {
namespace {

using Symbol = Trainer::Symbol;

// What no pair has: between two words, and inside of a symbol.
constexpr Symbol BETWEEN = static_cast<Symbol>(-1);
constexpr Symbol INSIDE = static_cast<Symbol>(-2);

// The bytes in the order that Hugging Face's trainer compares them in, which is that of the
// characters GPT-2 writes them as: first those that are written as themselves.
std::array<std::uint8_t, 256> byte_order() {
  std::array<std::uint8_t, 256> order{};
  for (unsigned byte = 0; byte < 256; ++byte)
    order[byte] = static_cast<std::uint8_t>(byte);
  std::stable_partition(order.begin(), order.end(), [](std::uint8_t byte) {
    return (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
  });
  return order;
}

} // namespace

// Calls a function each time that so much has been done.
class Trainer::Pulse {
public:
  explicit Pulse(const std::function<void()> &beat) : beat_(beat) {}
  void operator()(std::size_t work = 1) {
    done_ += work;
    if (done_ < ENOUGH)
      return;
    done_ = 0;
    beat_();
  }

private:
  static constexpr std::size_t ENOUGH = 50'000;
  const std::function<void()> &beat_;
  std::size_t done_ = 0;
};

// What std::push_heap has at the front is the greatest.
bool Trainer::less(const Entry &a, const Entry &b) {
  if (a.count != b.count)
    return a.count < b.count;
  if (a.order != b.order)
    return a.order > b.order;
  return a.bucket > b.bucket;
}

Trainer::Trainer(const WordTable &words, const TrainerOptions &options,
                 const std::function<void()> &pulse)
    : options_(options), tokens_(byte_order()) {
  Pulse beating(pulse);
  load(words, beating);
  count_pairs(beating);
}

void Trainer::load(const WordTable &words, Pulse &pulse) {
  std::size_t size = 1;
  for (const WordTable::Word &word : words.words())
    size += word.size + std::size_t{1};
  if (size >= NONE)
    throw std::length_error("4 GiB of distinct pre-tokens");
  slots_.reserve(size);
  word_counts_.reserve(words.words().size());
  std::array<Symbol, 256> symbols{};
  const auto order = byte_order();
  for (Symbol symbol = 0; symbol < 256; ++symbol)
    symbols[order[symbol]] = symbol;
  const std::uint8_t between = 0;
  bytes_start_ = tokens_.keep(&between, 1);
  slots_.push_back({BETWEEN, 0});
  for (const WordTable::Word &word : words.words()) {
    const auto index = static_cast<std::uint32_t>(word_counts_.size());
    word_counts_.push_back(word.count);
    tokens_.keep(word.data, word.size);
    tokens_.keep(&between, 1);
    for (std::size_t i = 0; i < word.size; ++i)
      slots_.push_back({symbols[word.data[i]], index});
    slots_.push_back({BETWEEN, index});
    pulse(word.size);
  }
}

void Trainer::count_pairs(Pulse &pulse) {
  for (std::size_t at = 0; at + 1 < slots_.size(); ++at) {
    const Slot left = slots_[at];
    const Slot right = slots_[at + 1];
    if (left.symbol != BETWEEN && right.symbol != BETWEEN)
      gain(pair_key(left.symbol, right.symbol), word_counts_[left.word],
           static_cast<Place>(at));
    pulse();
  }
  push_touched(pulse);
  found_.shrink_to_fit();
}

void Trainer::gain(PairKey key, std::int64_t count, Place place) {
  PairCounts::Pair &pair = pairs_.find_or_add(key);
  pair.count += count;
  if (pair.touched >= touched_.size() || touched_[pair.touched].key != key) {
    pair.touched = static_cast<std::uint32_t>(touched_.size());
    touched_.push_back({key, 0, NONE});
  }
  ++touched_[pair.touched].size;
  found_.push_back({pair.touched, place});
}

void Trainer::lose(PairKey key, std::int64_t count) {
  // A pair that is longer than a token may be was never counted.
  if (PairCounts::Pair *pair = pairs_.find(key))
    pair->count -= count;
}

// Puts the pairs that were touched into the heap, each with its places, which come in order.
void Trainer::push_touched(Pulse &pulse) {
  const bool is_first = buckets_.empty();
  const std::size_t known = buckets_.size();
  std::size_t end = places_.size();
  for (Touched &touched : touched_) {
    PairCounts::Pair &pair = *pairs_.find(touched.key);
    if (pair.count <= 0)
      continue;
    if (buckets_.size() >= NONE)
      throw std::length_error("4 billion pairs");
    touched.bucket = static_cast<std::uint32_t>(buckets_.size());
    buckets_.push_back({touched.key, end, 0, std::exchange(pair.bucket, touched.bucket)});
    end += touched.size;
  }
  places_.resize(end);
  for (const Found &found : found_) {
    const std::uint32_t index = touched_[found.touched].bucket;
    if (index != NONE) {
      Bucket &bucket = buckets_[index];
      places_[bucket.start + bucket.size++] = found.place;
    }
  }
  for (std::size_t i = known; i < buckets_.size(); ++i) {
    const std::int64_t count = pairs_.find(buckets_[i].key)->count;
    heap_.push_back({count, order_of(buckets_[i]), static_cast<std::uint32_t>(i)});
    if (!is_first)
      std::push_heap(heap_.begin(), heap_.end(), less);
  }
  if (is_first)
    std::make_heap(heap_.begin(), heap_.end(), less);
  pulse(found_.size());
  touched_.clear();
  found_.clear();
}

bool Trainer::is_at(PairKey key, Place place) const {
  const Symbol left = left_of(key);
  return slots_[place].symbol == left &&
         slots_[place + tokens_.length(left)].symbol == right_of(key);
}

std::uint64_t Trainer::order_of(Bucket &bucket) const {
  if (options_.tie_break == TieBreak::HUGGINGFACE)
    return bucket.key;
  // Where the pair is no more it will not be again.
  while (bucket.size > 1 && !is_at(bucket.key, places_[bucket.start])) {
    ++bucket.start;
    --bucket.size;
  }
  return places_[bucket.start];
}

bool Trainer::step(std::size_t tokens, const std::function<void()> &pulse) {
  Pulse beating(pulse);
  const std::int64_t least = std::max<std::int64_t>(options_.min_frequency, 1);
  while (this->tokens() < tokens) {
    if (heap_.empty())
      return false;
    const Entry top = heap_.front();
    Bucket &bucket = buckets_[top.bucket];
    const Entry now = {pairs_.find(bucket.key)->count, order_of(bucket), top.bucket};
    const bool changed = now.count != top.count || now.order != top.order;
    if (!changed && now.count < least)
      return false;
    std::pop_heap(heap_.begin(), heap_.end(), less);
    if (changed) {
      heap_.back() = now;
      std::push_heap(heap_.begin(), heap_.end(), less);
    } else {
      heap_.pop_back();
      merge(Bucket(bucket), beating);
    }
    beating();
  }
  return true;
}

// Hugging Face's trainer notes the words that a pair is in, and merges it in all of such a
// word. So with two buckets of one pair, each stands for what both have in the words that it
// has.
std::vector<Trainer::Place> Trainer::places_of(const Bucket &bucket) {
  const auto places = [this](const Bucket &of) {
    const auto first = places_.begin() + static_cast<std::ptrdiff_t>(of.start);
    return std::vector<Place>(first, first + of.size);
  };
  std::vector<Place> result = places(bucket);
  const std::uint32_t last = pairs_.find(bucket.key)->bucket;
  if (buckets_[last].previous == NONE)
    return result;
  std::unordered_set<std::uint32_t> words;
  for (const Place place : result)
    words.insert(slots_[place].word);
  for (std::uint32_t i = last; i != NONE; i = buckets_[i].previous)
    for (const Place place : places(buckets_[i]))
      if (words.count(slots_[place].word) != 0)
        result.push_back(place);
  std::sort(result.begin(), result.end());
  return result;
}

// Hugging Face's trainer has one token for the same bytes, however they came together; minbpe
// makes a new one with each merge.
Trainer::Symbol Trainer::token_of(PairKey key, const std::vector<Place> &places) {
  const Symbol left = left_of(key);
  const Symbol right = right_of(key);
  if (options_.tie_break == TieBreak::HUGGINGFACE) {
    const Symbol known = tokens_.find(left, right);
    if (known != MadeTokens::NONE)
      return known;
  }
  const auto at = std::find_if(places.begin(), places.end(),
                               [&](Place place) { return is_at(key, place); });
  if (at == places.end())
    return tokens_.add(left, right, nullptr);
  const std::uint64_t start = bytes_start_ + *at;
  return tokens_.add(left, right, &start);
}

void Trainer::merge(const Bucket &bucket, Pulse &pulse) {
  const std::vector<Place> places = places_of(bucket);
  const Symbol result = token_of(bucket.key, places);
  merges_.push_back({left_of(bucket.key), right_of(bucket.key), result});
  for (const Place place : places) {
    if (is_at(bucket.key, place))
      replace(bucket.key, place, result);
    pulse();
  }
  push_touched(pulse);
}

void Trainer::replace(PairKey key, Place place, Symbol result) {
  const Symbol left = left_of(key);
  const Symbol right = right_of(key);
  const std::uint32_t length = tokens_.length(result);
  const Place middle = place + tokens_.length(left);
  const Place end = place + length;
  const std::int64_t count = word_counts_[slots_[place].word];
  const auto is_counted_with = [&](Symbol other) {
    return std::uint64_t{tokens_.length(other)} + length < options_.max_token_length;
  };
  const Symbol before = slots_[place - 1].symbol;
  if (before != BETWEEN) {
    lose(pair_key(before, left), count);
    if (is_counted_with(before))
      gain(pair_key(before, result), count, place - tokens_.length(before));
  }
  slots_[middle - 1].symbol = slots_[middle].symbol = INSIDE;
  slots_[place].symbol = slots_[end - 1].symbol = result;
  const Symbol after = slots_[end].symbol;
  if (after != BETWEEN) {
    lose(pair_key(right, after), count);
    if (is_counted_with(after))
      gain(pair_key(result, after), count, place);
  }
}

std::vector<Trainer::Merge> Trainer::merges() const {
  const auto order = byte_order();
  const auto symbol = [&order](Symbol of) { return of < 256 ? order[of] : of; };
  // Where a pair was merged again, what counts is the last time, as in Hugging Face's trainer.
  std::vector<Merge> result;
  std::unordered_set<PairKey> seen;
  for (auto merge = merges_.rbegin(); merge != merges_.rend(); ++merge)
    if (seen.insert(pair_key(merge->left, merge->right)).second)
      result.push_back({symbol(merge->left), symbol(merge->right), merge->result});
  std::reverse(result.begin(), result.end());
  return result;
}

} // namespace pretok
