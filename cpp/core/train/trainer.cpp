#include "core/train/trainer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

namespace pretok {
namespace {

constexpr PairKey NO_PAIR = static_cast<PairKey>(-1);

// Empties a buffer, and frees its memory if it has much.
template <typename Item> void clear_buffer(std::vector<Item> &items) {
  constexpr std::size_t KEPT_BYTES = std::size_t{1} << 24;
  items.clear();
  if (items.capacity() * sizeof(Item) > KEPT_BYTES)
    std::vector<Item>().swap(items);
}

// Returns a merge with the names of the symbols of the alphabet.
Trainer::Merge named(const Trainer::Merge &merge, const std::vector<std::uint32_t> &names) {
  const auto name = [&names](Trainer::Symbol symbol) {
    return symbol < names.size() ? names[symbol] : symbol;
  };
  return {name(merge.left), name(merge.right), merge.result};
}

} // namespace

// Returns changes_[index]. If `index` is NO_INDEX, first adds a change and sets `index`. The
// reference is valid until the next call.
Trainer::Change &Trainer::change_at(std::uint32_t &index, PairKey gained, PairKey lost) {
  if (index == NO_INDEX) {
    index = static_cast<std::uint32_t>(changes_.size());
    changes_.push_back({gained, lost, 0, 0, 0, nullptr, false});
  }
  return changes_[index];
}

// Returns the change in which a pair gains places by the current merge, or nullptr.
Trainer::Change *Trainer::change_of(PairKey gained, Symbol result) {
  const Symbol left = left_of(gained);
  const Symbol right = right_of(gained);
  const std::uint32_t index = right == result  ? left_change_[left]
                              : left == result ? right_change_[right]
                                               : NO_INDEX;
  return index == NO_INDEX || changes_[index].size == 0 ? nullptr : &changes_[index];
}

// Adds a place to the gained pair of a change. `count` is the count of the word at this place.
void Trainer::gain(Change &change, std::int64_t count, Place place) {
  change.gained_count += count;
  ++change.size;
  changed_places_.push_back({static_cast<std::uint32_t>(&change - changes_.data()), place});
}

// Updates the counts of gained and lost pairs, and gives each gained pair its new places, in
// ascending order. `is_known` tells whether `result` was there before the current changes.
void Trainer::apply_changes(Symbol result, bool is_known, PeriodicCheck &periodic_check) {
  if (is_known)
    end_waiting_of_gained(result, periodic_check);
  // Only a pair of a known symbol may have places already. Then it does not wait.
  const auto find = [&](const Change &change) {
    return is_known ? pairs_.find(change.gained) : nullptr;
  };
  for (const Change &change : changes_)
    pairs_.prefetch(change.lost);
  for (const Change &change : changes_)
    if (PairCounts::Pair *pair = find(change); pair && change.size != 0)
      pair->count += change.gained_count;
  // Process losses after gains, because a merge may lose a pair that it gained. A pair that
  // waits does not keep its count up to date.
  for (const Change &change : changes_) {
    if (change.lost == NO_PAIR)
      continue;
    if (PairCounts::Pair *pair = pairs_.find(change.lost); pair != nullptr)
      pair->count -= change.lost_count;
    else if (Change *gained = change_of(change.lost, result); gained != nullptr)
      gained->gained_count -= change.lost_count;
  }
  for (Change &change : changes_)
    if (change.size != 0)
      change.next = place_lists_.add(change.size);
  for (const ChangedPlace &changed_place : changed_places_)
    *changes_[changed_place.change].next++ = changed_place.place;
  periodic_check(changed_places_.size());
  for (const Change &change : changes_) {
    if (change.size == 0)
      continue;
    Place *const places = change.next - change.size;
    PairCounts::Pair *const pair = find(change);
    if (pair == nullptr) {
      add_pair(change.gained, change.gained_count, places, change.size);
      continue;
    }
    if (change.was_waiting) { // then its losses by this merge were not in its count
      const Bucket &old = buckets_[pair->bucket];
      pair->count = count_at(change.gained, old.places, old.size) +
                    count_at(change.gained, places, change.size);
    }
    if (pair->count > 0)
      add_bucket(*pair, pair->count, pair->count, places, change.size);
  }
  for (const Change &change : changes_)
    left_change_[left_of(change.gained)] = right_change_[right_of(change.gained)] = NO_INDEX;
  clear_buffer(changes_);
  clear_buffer(changed_places_);
  waiting_.end_group();
  previous_group_.push_back(
      std::exchange(last_group_[result], static_cast<std::uint32_t>(previous_group_.size())));
}

// Returns MergeQueue::Entry::order of a bucket. With HUGGINGFACE, this is its pair. With
// FIRST_SEEN, it is the first place of the bucket at which the pair still is, or the last place
// if the pair is at none. Drops earlier places from the bucket.
std::uint64_t Trainer::order_of(Bucket &bucket) const {
  if (options_.tie_break == TieBreak::HUGGINGFACE)
    return bucket.key;
  // A pair that has disappeared from a place never returns there.
  while (bucket.size > 1 && !is_at(bucket.key, *bucket.places)) {
    ++bucket.places;
    --bucket.size;
  }
  return *bucket.places;
}

bool Trainer::step(std::size_t tokens, FunctionRef<void()> check_interrupt) {
  PeriodicCheck periodic_check(check_interrupt, memory_);
  const bool is_by_pair = options_.tie_break == TieBreak::HUGGINGFACE;
  const std::int64_t min_count = std::max<std::int64_t>(options_.min_frequency, 1);
  while (this->tokens() < tokens) {
    const MergeQueue::Entry *const first = queue_.first();
    if ((first == nullptr || first->count < threshold_) && lower_threshold(periodic_check))
      continue;
    if (first == nullptr)
      return false;
    const MergeQueue::Entry top = *first;
    Bucket &bucket = buckets_[top.bucket];
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
    if (const MergeQueue::Entry *next = queue_.first(); is_by_pair && next != nullptr)
      pairs_.prefetch(next->order);
    if (!is_outdated)
      merge(top.bucket, periodic_check);
    periodic_check();
    move_words_if_short(periodic_check);
  }
  return true;
}

// Returns the places at which to merge the pair of a bucket, if the pair has several buckets.
// Hugging Face's trainer stores the words of a pair, and merges the pair everywhere in these
// words. So merging one bucket means merging all places of the pair in the words of this
// bucket.
std::vector<Place> Trainer::places_of(const Bucket &bucket) const {
  std::vector<std::uint32_t> words; // ascending, like places
  for (std::uint32_t i = 0; i < bucket.size; ++i)
    words.push_back(slots_.word_of(bucket.places[i]));
  std::vector<Place> result;
  for (std::uint32_t i = pairs_.find(bucket.key)->bucket; i != NO_INDEX;
       i = buckets_[i].previous)
    std::copy_if(buckets_[i].places, buckets_[i].places + buckets_[i].size,
                 std::back_inserter(result), [&](Place place) {
                   // With joins_known, as when encoding, all places merge.
                   return options_.joins_known ||
                          std::binary_search(words.begin(), words.end(), slots_.word_of(place));
                 });
  std::sort(result.begin(), result.end());
  return result;
}

// Returns the token that merging the pair makes. With HUGGINGFACE, as in Hugging Face's
// trainer, merges whose results have equal units make one token. With FIRST_SEEN, as in minbpe,
// each merge makes a new token.
Trainer::Symbol Trainer::token_of(PairKey key) {
  const bool may_be_known = options_.tie_break == TieBreak::HUGGINGFACE;
  const Symbol left = left_of(key);
  const Symbol right = right_of(key);
  if (may_be_known)
    if (const Symbol known = tokens_.find(left, right); known != LearnedTokens::NO_SYMBOL)
      return known;
  if (tokens_.size() >= Slots::MAX_SYMBOLS)
    throw std::length_error(TOO_MANY_TOKENS);
  learned_units_ += std::uint64_t{tokens_.length(left)} + tokens_.length(right);
  if (learned_units_ > MAX_LEARNED_UNITS)
    throw std::length_error("the new tokens have more than 268435456 bytes or characters "
                            "altogether, because long pre-tokens become tokens; pass "
                            "max_token_length=, or a preset that splits the texts more often");
  return tokens_.add(left, right, may_be_known);
}

// Merges the pair of a bucket at all its places, and updates the counts of other pairs.
void Trainer::merge(std::uint32_t index, PeriodicCheck &periodic_check) {
  const Bucket bucket = buckets_[index];
  std::vector<Place> places_of_several;
  const Place *places = bucket.places;
  std::size_t size = bucket.size;
  if (buckets_[pairs_.find(bucket.key)->bucket].previous != NO_INDEX) {
    places_of_several = places_of(bucket);
    places = places_of_several.data();
    size = places_of_several.size();
  }
  const std::size_t known = tokens_.size();
  const Symbol result = token_of(bucket.key);
  left_change_.resize(tokens_.size(), NO_INDEX);
  right_change_.resize(tokens_.size(), NO_INDEX);
  last_group_.resize(tokens_.size(), NO_INDEX);
  bool is_known = result < known;
  for (std::size_t i = 0; i < size; ++i) {
    if (i + PLACES_AHEAD < size)
      slots_.prefetch(places[i + PLACES_AHEAD]);
    if (i + PLACES_AHEAD / 2 < size)
      slots_.prefetch_word(places[i + PLACES_AHEAD / 2]);
    if (is_at(bucket.key, places[i]) && replace(bucket.key, places[i], result)) {
      apply_changes(result, std::exchange(is_known, true), periodic_check);
      join(places[i], periodic_check);
    }
    periodic_check();
  }
  buckets_[index].size = 0;
  place_lists_.free(bucket.places, bucket.size);
  apply_changes(result, is_known, periodic_check);
  if (options_.joins_known)
    pairs_.find(bucket.key)->count = 0; // no place is left, though a bucket may be
  merges_.push_back({left_of(bucket.key), right_of(bucket.key), result});
}

// Merges the symbol at `place` with its neighbors until it joins none of them. Of two joins,
// the one that makes the earlier token comes first, then the left one, as when encoding.
void Trainer::join(Place place, PeriodicCheck &periodic_check) {
  const auto join_of = [&](Symbol left, Symbol right) {
    const bool is_word = left != Slots::WORD_BOUNDARY && right != Slots::WORD_BOUNDARY;
    return is_word ? known_join(left, right) : LearnedTokens::NO_SYMBOL;
  };
  for (bool joins = true; joins;) {
    const Symbol symbol = slots_.at(place);
    const Symbol before = slots_.at(place - 1);
    const Symbol after = slots_.at(place + slots_.size_at(place));
    const Symbol with_before = join_of(before, symbol);
    const Symbol with_after = join_of(symbol, after);
    const bool is_left = with_before <= with_after;
    if (is_left)
      place -= slots_.size_before(place);
    const Symbol result = is_left ? with_before : with_after;
    joins =
        replace(is_left ? pair_key(before, symbol) : pair_key(symbol, after), place, result);
    apply_changes(result, /*is_known=*/true, periodic_check);
  }
}

// Merges the pair at one place. Records in changes_ the pairs that its symbols formed with the
// neighbors on both sides, as lost, and the pairs of the result with these neighbors, as
// gained. Returns whether the result joins a neighbor (TrainerOptions::joins_known).
bool Trainer::replace(PairKey key, Place place, Symbol result) {
  const Symbol left = left_of(key);
  const Symbol right = right_of(key);
  const std::uint32_t left_size = slots_.size_at(place);
  const std::uint32_t right_size = slots_.size_at(place + left_size);
  const std::int64_t count = slots_.count_at(place);
  const Symbol before = slots_.at(place - 1);
  bool joins = false;
  const auto may_gain = [&](Symbol first, Symbol second) {
    const bool is_join = known_join(first, second) != LearnedTokens::NO_SYMBOL;
    joins |= is_join;
    return !is_join && may_merge(first, second);
  };
  if (before != Slots::WORD_BOUNDARY) {
    Change &change =
        change_at(left_change_[before], pair_key(before, result), pair_key(before, left));
    change.lost_count += count;
    if (may_gain(before, result))
      gain(change, count, place - slots_.size_before(place));
  }
  slots_.replace(place, left_size, right_size, result);
  const Symbol after = slots_.at(place + left_size + right_size);
  if (after != Slots::WORD_BOUNDARY) {
    Change &change =
        change_at(right_change_[after], pair_key(result, after), pair_key(right, after));
    change.lost_count += count;
    // The left and the right neighbor may both gain the pair (result, result). Record all
    // places of this pair in one change, so that the pair gets one bucket.
    if (may_gain(result, after))
      gain(after != result
               ? change
               : change_at(left_change_[after], pair_key(result, after), pair_key(after, left)),
           count, place);
  }
  return joins;
}

std::vector<Trainer::Merge> Trainer::last_merges(const std::vector<Merge> &merges,
                                                 const std::vector<std::uint32_t> &names) {
  // As in Hugging Face's trainer, only the last merge of a pair counts.
  // The `count` of each pair is the index in `merges` of its last merge, plus one.
  PairCounts last;
  std::int64_t place = 0;
  for (const Merge &merge : merges)
    last.find_or_add(pair_key(merge.left, merge.right)).count = ++place;
  std::vector<Merge> result;
  place = 0;
  for (const Merge &merge : merges)
    if (last.find(pair_key(merge.left, merge.right))->count == ++place)
      result.push_back(named(merge, names));
  return result;
}

std::vector<Trainer::Merge> Trainer::first_merges(const std::vector<Merge> &merges,
                                                  const std::vector<std::uint32_t> &names) {
  std::vector<Merge> result;
  for (const Merge &merge : merges)
    if (merge.result == names.size() + result.size())
      result.push_back(named(merge, names));
  return result;
}

} // namespace pretok
