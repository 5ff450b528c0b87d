#include "core/train/trainer.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace pretok {
namespace {

using Symbol = Trainer::Symbol;

// Two sentinels that are in no pair: the boundary of a word, and the interior of a symbol.
constexpr Symbol WORD_BOUNDARY = static_cast<Symbol>(-1);
constexpr Symbol SYMBOL_INTERIOR = static_cast<Symbol>(-2);

// The lowest count of a pair that merges at once (TrainerOptions::joins_known).
constexpr std::int64_t FORCED = std::int64_t{1} << 62;

constexpr PairKey NO_PAIR = static_cast<PairKey>(-1);
// The prefetch distance, in places.
constexpr std::size_t PLACES_AHEAD = 8;

std::vector<std::uint32_t> numbers_below(std::uint32_t limit) {
  std::vector<std::uint32_t> numbers(limit);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

// Returns the bytes in the order in which Hugging Face's trainer compares them: by the
// character that stands for the byte in GPT-2's vocabulary. Bytes that stand for themselves
// come first.
std::vector<std::uint32_t> huggingface_byte_order() {
  std::vector<std::uint32_t> order = numbers_below(256);
  std::stable_partition(order.begin(), order.end(), [](std::uint32_t byte) {
    return (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
  });
  return order;
}

} // namespace

// Calls check_interrupt after every WORK_PER_CHECK units of work: slots, places and heap
// entries.
class Trainer::PeriodicCheck {
public:
  explicit PeriodicCheck(FunctionRef<void()> check_interrupt)
      : check_interrupt_(check_interrupt) {}
  void operator()(std::size_t work = 1) {
    done_ += work;
    if (done_ < WORK_PER_CHECK)
      return;
    done_ = 0;
    check_interrupt_();
  }

private:
  static constexpr std::size_t WORK_PER_CHECK = 50'000;
  FunctionRef<void()> check_interrupt_;
  std::size_t done_ = 0;
};

Trainer::Trainer(const std::vector<Word> &words, const TrainerOptions &options,
                 FunctionRef<void()> check_interrupt)
    : options_(options), names_(huggingface_byte_order()), tokens_(names_, 1) {
  PeriodicCheck periodic_check(check_interrupt);
  load(words, periodic_check);
  count_pairs(periodic_check);
}

Trainer::Trainer(const CharacterWords &words, const TrainerOptions &options,
                 FunctionRef<void()> check_interrupt)
    : options_(options), names_(numbers_below(words.alphabet)),
      tokens_(names_, sizeof(std::uint32_t)) {
  PeriodicCheck periodic_check(check_interrupt);
  load(words, periodic_check);
  count_pairs(periodic_check);
}

Trainer::Trainer(const TokenWords &words, const TrainerOptions &options, bool is_compact,
                 FunctionRef<void()> check_interrupt)
    : options_(options),
      names_(numbers_below(static_cast<std::uint32_t>(words.lengths.size()))),
      tokens_({}, sizeof(std::uint32_t)), has_units_(false) {
  PeriodicCheck periodic_check(check_interrupt);
  const std::uint32_t *unit = words.units.data();
  for (const std::uint32_t length : words.lengths) {
    tokens_.add_initial(unit, length, is_compact ? 1 : length);
    unit += length;
  }
  load(words, periodic_check);
  count_pairs(periodic_check);
}

void Trainer::reserve(std::uint64_t slots, std::size_t words) {
  if (slots >= NO_INDEX)
    throw std::length_error("expected less than 4 GiB of distinct pre-tokens");
  slots_.reserve(static_cast<std::size_t>(slots));
  word_counts_.reserve(words);
}

// Stores the words, with a WORD_BOUNDARY before the first word and after each word.
void Trainer::load(const std::vector<Word> &words, PeriodicCheck &periodic_check) {
  std::uint64_t size = 1;
  for (const Word &word : words)
    size += word.size + std::uint64_t{1};
  reserve(size, words.size());
  std::array<Symbol, 256> symbols{};
  for (Symbol symbol = 0; symbol < 256; ++symbol)
    symbols[names_[symbol]] = symbol;
  units_start_ = tokens_.store_one(0); // the unit of a WORD_BOUNDARY slot
  slots_.push_back({WORD_BOUNDARY, 0});
  for (const Word &word : words) {
    const auto index = static_cast<std::uint32_t>(word_counts_.size());
    word_counts_.push_back(word.count);
    tokens_.store(word.data, word.size);
    tokens_.store_one(0);
    for (std::size_t i = 0; i < word.size; ++i)
      slots_.push_back({symbols[word.data[i]], index});
    slots_.push_back({WORD_BOUNDARY, index});
    periodic_check(word.size);
  }
}

void Trainer::load(const CharacterWords &words, PeriodicCheck &periodic_check) {
  reserve(words.symbols.size() + std::uint64_t{words.sizes.size()} + 1, words.sizes.size());
  units_start_ = tokens_.store_one(0);
  slots_.push_back({WORD_BOUNDARY, 0});
  auto next = words.symbols.begin();
  for (std::size_t i = 0; i < words.sizes.size(); ++i) {
    const auto index = static_cast<std::uint32_t>(i);
    word_counts_.push_back(words.counts[i]);
    for (std::uint32_t left = words.sizes[i]; left != 0; --left, ++next) {
      tokens_.store_one(*next);
      slots_.push_back({*next, index});
    }
    tokens_.store_one(0);
    slots_.push_back({WORD_BOUNDARY, index});
    periodic_check(words.sizes[i]);
  }
}

void Trainer::load(const TokenWords &words, PeriodicCheck &periodic_check) {
  std::uint64_t size = words.sizes.size() + std::uint64_t{1};
  for (const std::uint32_t symbol : words.symbols)
    size += tokens_.slots(symbol);
  reserve(size, words.sizes.size());
  slots_.push_back({WORD_BOUNDARY, 0});
  auto next = words.symbols.begin();
  for (std::size_t i = 0; i < words.sizes.size(); ++i) {
    const auto index = static_cast<std::uint32_t>(i);
    word_counts_.push_back(words.counts[i]);
    for (std::uint32_t left = words.sizes[i]; left != 0; --left, ++next) {
      const std::uint32_t slots = tokens_.slots(*next);
      slots_.insert(slots_.end(), slots, {SYMBOL_INTERIOR, index});
      slots_[slots_.size() - slots].symbol = slots_.back().symbol = *next;
    }
    slots_.push_back({WORD_BOUNDARY, index});
    periodic_check(words.sizes[i]);
  }
}

// Counts all pairs of neighbors in the words. No merge has happened yet.
void Trainer::count_pairs(PeriodicCheck &periodic_check) {
  constexpr std::size_t BYTES = 256;
  const bool are_bytes = names_.size() <= BYTES;
  std::vector<std::uint32_t> byte_pairs(are_bytes ? BYTES * BYTES : 0, NO_INDEX);
  PairCounts other_pairs; // for characters; `bucket` is the index in changes_
  const auto index_of = [&](Symbol left, Symbol right) -> std::uint32_t & {
    return are_bytes ? byte_pairs[left * BYTES + right]
                     : other_pairs.find_or_add(pair_key(left, right)).bucket;
  };
  const auto slots_of = [this](Symbol symbol) {
    return symbol == WORD_BOUNDARY || has_units_ ? 1 : tokens_.slots(symbol);
  };
  // Calls visit(index, place) for each pair that may merge.
  const auto visit_pairs = [&](auto visit) {
    for (std::size_t at = 0; at + 1 < slots_.size(); at += slots_of(slots_[at].symbol)) {
      const Symbol left = slots_[at].symbol;
      if (left == WORD_BOUNDARY)
        continue;
      const Symbol right = slots_[at + slots_of(left)].symbol;
      if (right != WORD_BOUNDARY && may_merge(left, right))
        visit(index_of(left, right), pair_key(left, right), static_cast<Place>(at));
      periodic_check();
    }
  };
  // Two passes take less memory than a list of the places of all pairs.
  visit_pairs([&](std::uint32_t &index, PairKey key, Place place) {
    Change &change = change_at(index, key, NO_PAIR);
    change.gained_count += word_counts_[slots_[place].word];
    ++change.size;
  });
  count_changes();
  visit_pairs([&](std::uint32_t &index, PairKey, Place place) { store_place({index, place}); });
  push_buckets(0);
}

// Returns changes_[index]. If `index` is NO_INDEX, first adds a change and sets `index`. The
// reference is valid until the next call.
Trainer::Change &Trainer::change_at(std::uint32_t &index, PairKey gained, PairKey lost) {
  if (index == NO_INDEX) {
    index = static_cast<std::uint32_t>(changes_.size());
    changes_.push_back({gained, lost, 0, 0, 0, NO_INDEX});
  }
  return changes_[index];
}

// Adds a place to the gained pair of a change. `count` is the count of the word at this place.
void Trainer::gain(Change &change, std::int64_t count, Place place) {
  change.gained_count += count;
  ++change.size;
  changed_places_.push_back({static_cast<std::uint32_t>(&change - changes_.data()), place});
}

// Updates the counts of gained and lost pairs. Makes a bucket of the new places of each gained
// pair, in ascending order, and pushes an entry for the bucket.
void Trainer::apply_changes(PeriodicCheck &periodic_check) {
  const std::size_t known = buckets_.size();
  count_changes();
  for (const ChangedPlace &changed_place : changed_places_)
    store_place(changed_place);
  periodic_check(changed_places_.size());
  push_buckets(known);
  changed_places_.clear();
}

// Updates the counts of gained and lost pairs, and makes a bucket with room for the new places
// of each gained pair.
void Trainer::count_changes() {
  for (const Change &change : changes_) {
    pairs_.prefetch(change.gained);
    pairs_.prefetch(change.lost);
  }
  for (const Change &change : changes_) {
    if (change.size == 0)
      continue;
    PairCounts::Pair &pair = pairs_.find_or_add(change.gained);
    if (options_.joins_known && pair.count == 0 && pair.bucket == NO_INDEX)
      pair.count = forced_count(change.gained);
    if (pair.count < FORCED)
      pair.count += change.gained_count;
  }
  // Process losses after gains. A merge may lose a pair that it gained, and the entry of the
  // pair must exist by then.
  for (const Change &change : changes_)
    if (change.lost != NO_PAIR)
      // A pair that is too long for a token was never counted.
      if (PairCounts::Pair *pair = pairs_.find(change.lost); pair && pair->count < FORCED)
        pair->count -= change.lost_count;
  std::size_t end = places_.size();
  for (Change &change : changes_) {
    if (change.size == 0)
      continue;
    PairCounts::Pair &pair = *pairs_.find(change.gained);
    if (pair.count <= 0)
      continue;
    if (buckets_.size() >= NO_INDEX)
      throw std::length_error("expected fewer than 4 billion pairs");
    change.bucket = static_cast<std::uint32_t>(buckets_.size());
    buckets_.push_back({change.gained, end, 0, std::exchange(pair.bucket, change.bucket)});
    end += change.size;
  }
  places_.resize(end);
}

// Adds a place to the bucket of its change.
void Trainer::store_place(const ChangedPlace &changed_place) {
  const std::uint32_t index = changes_[changed_place.change].bucket;
  if (index == NO_INDEX)
    return;
  Bucket &bucket = buckets_[index];
  places_[bucket.start + bucket.size++] = changed_place.place;
}

// Pushes an entry for each bucket from bucket `first` on, and forgets the changes.
void Trainer::push_buckets(std::size_t first) {
  for (std::size_t i = first; i < buckets_.size(); ++i)
    queue_.push({pairs_.find(buckets_[i].key)->count, order_of(buckets_[i]),
                 static_cast<std::uint32_t>(i)});
  changes_.clear();
}

// Returns whether the pair is still at the place.
bool Trainer::is_at(PairKey key, Place place) const {
  const Symbol left = left_of(key);
  return slots_[place].symbol == left &&
         slots_[place + tokens_.slots(left)].symbol == right_of(key);
}

// Returns the count of a pair that merges at once, which is above all others; 0 for any other
// pair. Of two such counts, that of the token with the lower rank is higher.
std::int64_t Trainer::forced_count(PairKey key) const {
  const Symbol known = tokens_.find(left_of(key), right_of(key));
  return known < names_.size() ? FORCED + std::int64_t{LearnedTokens::NO_SYMBOL - known} : 0;
}

// Returns whether a pair that a merge creates is counted: it is not too long for a token, and
// has no more words than a token may have. Pairs of two units are never too long.
bool Trainer::may_merge(Symbol left, Symbol right) const {
  const std::uint64_t length = std::uint64_t{tokens_.length(left)} + tokens_.length(right);
  if (options_.joins_known && forced_count(pair_key(left, right)) != 0)
    return true;
  return (length < options_.max_token_length || length == 2) &&
         tokens_.words(left, right) <= options_.max_words;
}

// Returns MergeQueue::Entry::order of a bucket. With HUGGINGFACE, this is its pair. With
// FIRST_SEEN, it is the first place of the bucket at which the pair still is, or the last place
// if the pair is at none. Drops earlier places from the bucket.
std::uint64_t Trainer::order_of(Bucket &bucket) const {
  if (options_.tie_break == TieBreak::HUGGINGFACE)
    return bucket.key;
  // A pair that has disappeared from a place never returns there.
  while (bucket.size > 1 && !is_at(bucket.key, places_[bucket.start])) {
    ++bucket.start;
    --bucket.size;
  }
  return places_[bucket.start];
}

bool Trainer::step(std::size_t tokens, FunctionRef<void()> check_interrupt) {
  PeriodicCheck periodic_check(check_interrupt);
  const bool is_by_pair = options_.tie_break == TieBreak::HUGGINGFACE;
  const std::int64_t min_count = std::max<std::int64_t>(options_.min_frequency, 1);
  while (this->tokens() < tokens) {
    const MergeQueue::Entry *const first = queue_.first();
    if (first == nullptr)
      return false;
    const MergeQueue::Entry top = *first;
    Bucket &bucket = buckets_[top.bucket];
    prefetch(&bucket);
    const PairKey key = is_by_pair ? top.order : bucket.key;
    const MergeQueue::Entry now = {pairs_.find(key)->count, is_by_pair ? key : order_of(bucket),
                                   top.bucket};
    const bool is_outdated = now.count != top.count || now.order != top.order;
    if (!is_outdated && now.count < min_count)
      return false;
    // Keep an outdated entry with its current count.
    if (is_outdated)
      queue_.replace_first(now);
    else
      queue_.remove_first();
    if (const MergeQueue::Entry *next = queue_.first_in_heap(); is_by_pair && next != nullptr)
      pairs_.prefetch(next->order);
    if (!is_outdated)
      merge(Bucket(bucket), periodic_check); // copies the bucket, since merge adds buckets
    periodic_check();
  }
  return true;
}

// Returns the places at which to merge the pair of a bucket. Hugging Face's trainer stores the
// words of a pair, and merges the pair everywhere in these words. So if a pair has several
// buckets, merging one bucket means merging all places of the pair in the words of this bucket.
std::vector<Trainer::Place> Trainer::places_of(const Bucket &bucket) {
  const auto places = [this](const Bucket &any_bucket) {
    const auto first = places_.begin() + static_cast<std::ptrdiff_t>(any_bucket.start);
    return std::vector<Place>(first, first + any_bucket.size);
  };
  std::vector<Place> result = places(bucket);
  const std::uint32_t last = pairs_.find(bucket.key)->bucket;
  if (buckets_[last].previous == NO_INDEX)
    return result;
  if (options_.joins_known) { // as when encoding, all places merge
    for (std::uint32_t i = last; i != NO_INDEX; i = buckets_[i].previous)
      for (const Place place : places(buckets_[i]))
        result.push_back(place);
    std::sort(result.begin(), result.end());
    return result;
  }
  std::vector<std::uint32_t> words; // ascending, like places
  for (const Place place : result)
    words.push_back(slots_[place].word);
  for (std::uint32_t i = last; i != NO_INDEX; i = buckets_[i].previous)
    for (const Place place : places(buckets_[i]))
      if (std::binary_search(words.begin(), words.end(), slots_[place].word))
        result.push_back(place);
  std::sort(result.begin(), result.end());
  return result;
}

// Returns the token that merging the pair makes. With HUGGINGFACE, as in Hugging Face's
// trainer, merges whose results have equal units make one token. With FIRST_SEEN, as in minbpe,
// each merge makes a new token.
Trainer::Symbol Trainer::token_of(PairKey key, const std::vector<Place> &places) {
  const Symbol left = left_of(key);
  const Symbol right = right_of(key);
  if (options_.tie_break == TieBreak::HUGGINGFACE) {
    const Symbol known = tokens_.find(left, right);
    if (known != LearnedTokens::NO_SYMBOL) {
      if (tokens_.slots(known) != tokens_.slots(left) + tokens_.slots(right))
        throw std::runtime_error("a token takes different numbers of slots");
      return known;
    }
  }
  if (!has_units_)
    return tokens_.add(left, right, nullptr);
  const auto at = std::find_if(places.begin(), places.end(),
                               [&](Place place) { return is_at(key, place); });
  if (at == places.end())
    return tokens_.add(left, right, nullptr);
  const std::uint64_t start = units_start_ + *at;
  return tokens_.add(left, right, &start);
}

// Merges the pair of a bucket at all its places, and updates the counts of other pairs.
void Trainer::merge(const Bucket &bucket, PeriodicCheck &periodic_check) {
  const std::vector<Place> places = places_of(bucket);
  const Symbol result = token_of(bucket.key, places);
  merges_.push_back({left_of(bucket.key), right_of(bucket.key), result});
  left_change_.resize(tokens_.size(), NO_INDEX);
  right_change_.resize(tokens_.size(), NO_INDEX);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i + PLACES_AHEAD < places.size())
      prefetch(&slots_[places[i + PLACES_AHEAD]]);
    if (i + PLACES_AHEAD / 2 < places.size())
      prefetch(&word_counts_[slots_[places[i + PLACES_AHEAD / 2]].word]);
    if (is_at(bucket.key, places[i]))
      replace(bucket.key, places[i], result);
    periodic_check();
  }
  for (const Change &change : changes_)
    left_change_[left_of(change.gained)] = right_change_[right_of(change.gained)] = NO_INDEX;
  apply_changes(periodic_check);
}

// Merges the pair at one place. Records in changes_ the pairs that its symbols formed with the
// neighbors on both sides, as lost, and the pairs of the result with these neighbors, as
// gained.
void Trainer::replace(PairKey key, Place place, Symbol result) {
  const Symbol left = left_of(key);
  const Symbol right = right_of(key);
  const Place middle = place + tokens_.slots(left);
  const Place end = place + tokens_.slots(result);
  const std::int64_t count = word_counts_[slots_[place].word];
  const Symbol before = slots_[place - 1].symbol;
  if (before != WORD_BOUNDARY) {
    Change &change =
        change_at(left_change_[before], pair_key(before, result), pair_key(before, left));
    change.lost_count += count;
    if (may_merge(before, result))
      gain(change, count, place - tokens_.slots(before));
  }
  slots_[middle - 1].symbol = slots_[middle].symbol = SYMBOL_INTERIOR;
  slots_[place].symbol = slots_[end - 1].symbol = result;
  const Symbol after = slots_[end].symbol;
  if (after != WORD_BOUNDARY) {
    Change &change =
        change_at(right_change_[after], pair_key(result, after), pair_key(right, after));
    change.lost_count += count;
    // The left and the right neighbor may both gain the pair (result, result). Record all
    // places of this pair in one change, so that the pair gets one bucket.
    if (may_merge(result, after))
      gain(after != result
               ? change
               : change_at(left_change_[after], pair_key(result, after), pair_key(after, left)),
           count, place);
  }
}

// Returns a merge with the names of the symbols of the alphabet.
Trainer::Merge Trainer::named(const Merge &merge) const {
  const auto name = [this](Symbol symbol) {
    return symbol < names_.size() ? names_[symbol] : symbol;
  };
  return {name(merge.left), name(merge.right), merge.result};
}

std::vector<Trainer::Merge> Trainer::merges() const {
  // As in Hugging Face's trainer, only the last merge of a pair counts.
  // The `count` of each pair is the index in merges_ of its last merge, plus one.
  PairCounts last;
  std::int64_t place = 0;
  for (const Merge &merge : merges_)
    last.find_or_add(pair_key(merge.left, merge.right)).count = ++place;
  std::vector<Merge> result;
  place = 0;
  for (const Merge &merge : merges_)
    if (last.find(pair_key(merge.left, merge.right))->count == ++place)
      result.push_back(named(merge));
  return result;
}

std::vector<Trainer::Merge> Trainer::first_merges() const {
  std::vector<Merge> result;
  for (const Merge &merge : merges_)
    if (merge.result == names_.size() + result.size())
      result.push_back(named(merge));
  return result;
}

} // namespace pretok
