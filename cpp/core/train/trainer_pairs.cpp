// The words and the pairs of a Trainer before any merge, and the pairs that wait.
#include "core/train/trainer.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace pretok {
namespace {

std::vector<std::uint32_t> numbers_below(std::size_t limit) {
  std::vector<std::uint32_t> numbers(limit);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

} // namespace

std::vector<std::uint32_t> Trainer::byte_order() {
  std::vector<std::uint32_t> order = numbers_below(256);
  std::stable_partition(order.begin(), order.end(), [](std::uint32_t byte) {
    return (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
  });
  return order;
}

Trainer::Trainer(const std::vector<Word> &words, const TrainerOptions &options,
                 FunctionRef<void()> check_interrupt)
    : options_(options), names_(byte_order()) {
  PeriodicCheck periodic_check(check_interrupt, memory_);
  std::uint64_t size = 1;
  for (const Word &word : words)
    size += word.size + std::uint64_t{1};
  slots_.reserve(size, words.size());
  const auto visit_words = [&words](auto add) {
    for (const Word &word : words)
      add({word.data, word.size}, word.count);
  };
  load(visit_words, periodic_check);
}

Trainer::Trainer(RunReader &run, const TrainerOptions &options, TrainerMemory memory,
                 FunctionRef<void()> check_interrupt)
    : options_(options), memory_(std::move(memory)), names_(byte_order()) {
  PeriodicCheck periodic_check(check_interrupt, memory_);
  const auto visit_words = [&run](auto add) {
    while (run.next())
      add(run.word(), run.count());
  };
  load(visit_words, periodic_check);
}

Trainer::Trainer(const TokenAlphabet &alphabet, TokenRows &rows, const TrainerOptions &options,
                 TrainerMemory memory, FunctionRef<void()> check_interrupt)
    : options_(options), memory_(std::move(memory)),
      names_(numbers_below(alphabet.lengths.size())), slots_(rows.take()) {
  memory_.holds_words = slots_.is_moved();
  PeriodicCheck periodic_check(check_interrupt, memory_);
  const std::uint32_t *unit = alphabet.units.data();
  for (const std::uint32_t length : alphabet.lengths) {
    tokens_.add_initial(unit, length);
    unit += length;
  }
  find_pairs(periodic_check);
}

// Moves the words to memory_ if ordinary memory takes too much.
void Trainer::move_words_if_short(const PeriodicCheck &periodic_check) {
  if (!periodic_check.is_short() || memory_.holds_words)
    return;
  slots_.move_to(memory_);
  memory_.holds_words = true;
}

// Stores words of bytes, and finds their pairs. `visit_words(add)` calls add(bytes, count) for
// each word.
template <typename VisitWords>
void Trainer::load(VisitWords visit_words, PeriodicCheck &periodic_check) {
  std::array<Symbol, 256> symbols{};
  for (Symbol symbol = 0; symbol < 256; ++symbol) {
    symbols[names_[symbol]] = symbol;
    tokens_.add_initial(&names_[symbol], 1);
  }
  visit_words([&](ByteView word, std::int64_t count) {
    for (std::size_t i = 0; i < word.size; ++i)
      slots_.add_symbol(symbols[word.data[i]]);
    slots_.end_word(count);
    periodic_check(word.size);
    move_words_if_short(periodic_check);
  });
  find_pairs(periodic_check);
}

// Finds all pairs of neighbors in the words, and their places. No merge has happened yet, so
// each symbol takes one slot.
void Trainer::find_pairs(PeriodicCheck &periodic_check) {
  if (names_.size() > Slots::MAX_SYMBOLS)
    throw std::length_error(TOO_MANY_TOKENS);
  slots_.index_words();
  last_group_.resize(names_.size(), NO_INDEX);
  left_change_.resize(names_.size(), NO_INDEX);
  // Calls visit(left, place) for each pair.
  const auto visit_pairs = [&](auto visit) {
    for (std::size_t word = 0; word < slots_.words(); ++word) {
      const Place end = slots_.start(word + 1) - 1;
      for (Place place = slots_.start(word); place + 1 < end; ++place)
        visit(slots_.at(place), place);
      periodic_check(end - slots_.start(word));
    }
  };
  // Sorts the places by the left symbol of the pair, and then those of one left symbol by the
  // right symbol.
  std::vector<std::size_t> sizes(names_.size());
  visit_pairs([&](Symbol left, Place) { ++sizes[left]; });
  PlaceLists lists(memory_);
  std::vector<Place *> next;
  for (const std::size_t size : sizes)
    next.push_back(lists.add(size));
  visit_pairs([&](Symbol left, Place place) { *next[left]++ = place; });
  for (Symbol left = 0; left < names_.size(); ++left) {
    Place *const places = next[left] - sizes[left];
    find_pairs_of(left, places, sizes[left], periodic_check);
    lists.free(places, sizes[left]);
  }
  waiting_.end_group();
}

// Finds the pairs with one left symbol, which are at these places.
void Trainer::find_pairs_of(Symbol left, const Place *places, std::size_t size,
                            PeriodicCheck &periodic_check) {
  struct Pair {
    Symbol right;
    std::uint32_t size;
    std::int64_t count;
    Place *next; // where the next place is stored, or nullptr
  };
  std::vector<Pair> pairs;
  std::vector<std::uint32_t> &index_of = left_change_; // by right symbol
  for (std::size_t i = 0; i < size; ++i) {
    if (i + PLACES_AHEAD < size)
      slots_.prefetch(places[i + PLACES_AHEAD]);
    const Symbol right = slots_.at(places[i] + 1);
    if (index_of[right] == NO_INDEX) {
      index_of[right] = static_cast<std::uint32_t>(pairs.size());
      pairs.push_back({right, 0, 0, nullptr});
    }
    Pair &pair = pairs[index_of[right]];
    ++pair.size;
    pair.count += slots_.count_at(places[i]);
    periodic_check();
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair &a, const Pair &b) { return a.right < b.right; });
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    index_of[pairs[i].right] = static_cast<std::uint32_t>(i);
    if (may_merge(left, pairs[i].right))
      pairs[i].next = place_lists_.add(pairs[i].size);
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (Place *&next = pairs[index_of[slots_.at(places[i] + 1)]].next; next != nullptr)
      *next++ = places[i];
    periodic_check();
  }
  for (const Pair &pair : pairs) {
    index_of[pair.right] = NO_INDEX;
    if (pair.next != nullptr)
      add_pair(pair_key(left, pair.right), pair.count, pair.next - pair.size, pair.size);
  }
}

// Returns the token of the alphabet that two neighbors make at once, or NO_SYMBOL.
Trainer::Symbol Trainer::known_join(Symbol left, Symbol right) const {
  const Symbol known =
      options_.joins_known ? tokens_.find(left, right) : LearnedTokens::NO_SYMBOL;
  return known < names_.size() ? known : LearnedTokens::NO_SYMBOL;
}

// Returns whether a pair that a merge creates is counted: it is not too long for a token, and
// has no more words than a token may have. Pairs of two units are never too long.
bool Trainer::may_merge(Symbol left, Symbol right) const {
  const std::uint64_t length = std::uint64_t{tokens_.length(left)} + tokens_.length(right);
  return (length < options_.max_token_length || length == 2) &&
         tokens_.words(left, right) <= options_.max_words;
}

// Adds a pair that has no places yet. If its count is below the threshold, the pair waits.
void Trainer::add_pair(PairKey key, std::int64_t count, Place *places, std::uint32_t size) {
  if (count <= 0)
    return;
  if (count < threshold_)
    waiting_.add({key, places, static_cast<std::uint32_t>(count), size});
  else
    add_bucket(pairs_.find_or_add(key), count, count, places, size);
}

// Adds a bucket to a pair, which has `count` now. Its entry in the queue has `entry_count`.
void Trainer::add_bucket(PairCounts::Pair &pair, std::int64_t count, std::int64_t entry_count,
                         Place *places, std::uint32_t size) {
  if (buckets_.size() >= NO_INDEX)
    throw std::length_error("expected fewer than 4 billion pairs");
  const auto index = static_cast<std::uint32_t>(buckets_.size());
  pair.count = count;
  buckets_.push_back({pair.key, places, size, std::exchange(pair.bucket, index)});
  queue_.push({entry_count, order_of(buckets_.back()), index});
}

// Returns the count of a pair at those of its places that still have it.
std::int64_t Trainer::count_at(PairKey key, const Place *places, std::uint32_t size) const {
  std::int64_t count = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    if (i + PLACES_AHEAD < size)
      slots_.prefetch(places[i + PLACES_AHEAD]);
    if (is_at(key, places[i]))
      count += slots_.count_at(places[i]);
  }
  return count;
}

// Gives a waiting pair a bucket, and its current count.
void Trainer::end_waiting(WaitingPair &pair, PeriodicCheck &periodic_check) {
  periodic_check(pair.size + PeriodicCheck::LIST);
  const std::int64_t count = count_at(pair.key, pair.places, pair.size);
  add_bucket(pairs_.find_or_add(pair.key), count, std::exchange(pair.count, 0), pair.places,
             pair.size);
}

// Halves the threshold, or lowers it further if no pair reaches the half. Returns false if no
// pair waits.
bool Trainer::lower_threshold(PeriodicCheck &periodic_check) {
  const std::uint32_t highest = waiting_.highest();
  if (highest == 0)
    return false;
  threshold_ = highest - highest / 2;
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    WaitingPair &pair = waiting_[i];
    if (pair.count >= threshold_)
      end_waiting(pair, periodic_check);
    next = std::max(next, pair.count);
    periodic_check();
  }
  waiting_.set_highest(next);
  return true;
}

// Ends the waiting of pairs that the current merge gives more places. They wait only if its
// result is a symbol that was there before.
void Trainer::end_waiting_of_gained(Symbol result, PeriodicCheck &periodic_check) {
  const auto end = [&](WaitingPair &pair, Change &change) {
    end_waiting(pair, periodic_check);
    change.was_waiting = true;
  };
  // Calls visit(pair) for the waiting pairs that each merge with the result `symbol` made.
  const auto visit_made = [&](Symbol symbol, auto visit) {
    for (std::uint32_t made = last_group_[symbol]; made != NO_INDEX;
         made = previous_group_[made])
      for (std::size_t i = waiting_.begin(made + 1); i < waiting_.begin(made + 2); ++i)
        if (WaitingPair &pair = waiting_[i]; pair.count != 0)
          visit(pair);
  };
  visit_made(result, [&](WaitingPair &pair) {
    if (Change *change = change_of(pair.key, result); change != nullptr)
      end(pair, *change);
  });
  for (Change &change : changes_) {
    const Symbol left = left_of(change.gained);
    const Symbol right = right_of(change.gained);
    if (change.size == 0 || pairs_.find(change.gained) != nullptr)
      continue;
    if (std::max(left, right) < names_.size())
      if (WaitingPair *pair = waiting_.find_first(change.gained); pair && pair->count != 0)
        end(*pair, change);
    if (left != right)
      visit_made(left == result ? right : left, [&](WaitingPair &pair) {
        if (pair.key == change.gained)
          end(pair, change);
      });
  }
}

} // namespace pretok
