#include "core/train/disk_trainer.hpp"

#include "core/base/prefetch.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace pretok {
namespace {

using Symbol = DiskTrainer::Symbol;

// Slots without a symbol. A boundary has WORD_END and the count of the word before it, or
// LARGE_COUNT if the count is in large_counts_.
constexpr std::uint32_t WORD_END = std::uint32_t{1} << 31;
constexpr std::uint32_t LARGE_COUNT = WORD_END - 1;
constexpr std::uint32_t MERGED_SLOT = WORD_END - 1;
// The end of a longer word is in long_words_, so that it is found in constant time.
constexpr std::size_t LONG_WORD = 64;

constexpr PairKey NO_LOST_PAIR = static_cast<PairKey>(-1);
constexpr std::size_t BYTE_VALUES = 256;
// The size of the buffer for the places of pairs of bytes, in places.
constexpr std::size_t PAIR_BUFFER = std::size_t{1} << 25;
// Buffers above this size are freed after a merge.
constexpr std::size_t KEPT_BUFFER = std::size_t{1} << 20;
// The numbers that the index has for a dropped bucket.
constexpr std::size_t INDEX_NUMBERS = 3;
// The prefetch distance, in places.
constexpr std::size_t PREFETCHED_PLACES = 8;
// The number of queue entries between two calls of check_interrupt.
constexpr std::size_t ENTRIES_PER_CHECK = 64;
// The number of keys for which the filter of dropped pairs is made.
constexpr std::size_t MAX_FILTER_KEYS = std::size_t{1} << 24;

bool is_boundary(std::uint32_t slot) { return slot >= WORD_END; }

template <typename Item> void clear_buffer(std::vector<Item> &items) {
  items.clear();
  if (items.capacity() * sizeof(Item) > KEPT_BUFFER)
    std::vector<Item>().swap(items);
}

} // namespace

DiskTrainer::DiskTrainer(RunReader &run, const RunSize &size, std::int64_t min_frequency,
                         std::uint64_t max_token_length, std::int64_t least_count, DiskLog log,
                         FunctionRef<void()> check_interrupt)
    : min_count_(std::max<std::int64_t>(min_frequency, 1)), max_token_length_(max_token_length),
      least_count_(std::max(least_count, min_count_)), log_(std::move(log)),
      names_(Trainer::byte_order()), tokens_(names_, 1) {
  load(run, size, check_interrupt);
  write_byte_pairs(check_interrupt);
}

void DiskTrainer::load(RunReader &run, const RunSize &size,
                       FunctionRef<void()> check_interrupt) {
  if (size.bytes + size.words + 1 >= NO_INDEX)
    throw std::length_error("expected less than 4 GiB of distinct pre-tokens");
  slots_.reserve(static_cast<std::size_t>(size.bytes + size.words + 1));
  dropped_pairs_.reset(std::min(slots_.capacity() / 4, MAX_FILTER_KEYS));
  std::array<Symbol, BYTE_VALUES> symbols{};
  for (Symbol symbol = 0; symbol < BYTE_VALUES; ++symbol)
    symbols[names_[symbol]] = symbol;
  slots_.push_back(WORD_END);
  std::size_t loaded = 0;
  while (run.next()) {
    const ByteView word = run.word();
    const auto start = static_cast<Place>(slots_.size());
    if (slots_.size() + word.size >= slots_.capacity())
      throw std::invalid_argument("expected a run of another size");
    for (std::size_t i = 0; i < word.size; ++i)
      slots_.push_back(symbols[word.data[i]]);
    const auto end = static_cast<Place>(slots_.size());
    if (word.size > LONG_WORD)
      long_words_.push_back({start, end});
    const bool is_large = run.count() >= std::int64_t{LARGE_COUNT};
    if (is_large)
      large_counts_.emplace_back(end, run.count());
    slots_.push_back(WORD_END |
                     (is_large ? LARGE_COUNT : static_cast<std::uint32_t>(run.count())));
    if (++loaded % (std::size_t{1} << 16) == 0)
      check_interrupt();
  }
}

// Counts the pairs of bytes, and writes their buckets to the log. Writes as many buckets
// together as fit in a buffer.
void DiskTrainer::write_byte_pairs(FunctionRef<void()> check_interrupt) {
  struct BytePair {
    std::int64_t count = 0;
    std::uint32_t size = 0;
    std::size_t next = 0; // index in out_ of the next place
  };
  std::vector<BytePair> pairs(BYTE_VALUES * BYTE_VALUES);
  // Calls visit(pair, place, count) for each pair.
  const auto visit_pairs = [&](auto visit) {
    for (std::size_t start = 1; start < slots_.size();) {
      const Place end = end_of(static_cast<Place>(start));
      const std::int64_t count = count_at(end);
      for (std::size_t at = start; at + 1 < end; ++at)
        visit(pairs[slots_[at] * BYTE_VALUES + slots_[at + 1]], static_cast<Place>(at), count);
      if ((end >> 16) != (start >> 16))
        check_interrupt();
      start = std::size_t{end} + 1;
    }
  };
  visit_pairs([](BytePair &pair, Place, std::int64_t count) {
    pair.count += count;
    ++pair.size;
  });
  constexpr std::size_t UNWRITTEN = static_cast<std::size_t>(-1);
  for (std::size_t first = 0; first < pairs.size();) {
    std::size_t size = 0;
    std::size_t last = first; // the first pair that does not fit
    for (; last < pairs.size() && (size == 0 || size + pairs[last].size <= PAIR_BUFFER);
         ++last) {
      BytePair &pair = pairs[last];
      if (pair.count < least_count_) {
        // Bytes are never made by a merge, so the pair gains no places.
        has_dropped_ |= pair.count > 0;
        continue;
      }
      const PairKey key = pair_key(static_cast<Symbol>(last / BYTE_VALUES),
                                   static_cast<Symbol>(last % BYTE_VALUES));
      PairCounts::Pair &entry = pairs_.find_or_add(key);
      entry.count = pair.count;
      add_bucket(key, log_size_ + size, pair.size, entry);
      pair.next = size;
      size += pair.size;
    }
    for (std::size_t i = 0; i < pairs.size(); ++i)
      if (i < first || i >= last || pairs[i].count < least_count_)
        pairs[i].next = UNWRITTEN;
    if (size != 0) {
      out_.resize(size);
      visit_pairs([&](BytePair &pair, Place place, std::int64_t) {
        if (pair.next != UNWRITTEN)
          out_[pair.next++] = place;
      });
      log_.append(out_.data(), out_.size());
      log_size_ += out_.size();
      clear_buffer(out_);
    }
    first = last;
  }
}

// Returns the boundary after the word that has `place`, which may be any slot of the word.
DiskTrainer::Place DiskTrainer::end_of(Place place) const {
  Place end = place;
  for (std::size_t i = 0; i <= LONG_WORD; ++i, ++end)
    if (is_boundary(slots_[end]))
      return end;
  const auto next =
      std::upper_bound(long_words_.begin(), long_words_.end(), place,
                       [](Place at, const LongWord &word) { return at < word.start; });
  return (next - 1)->end;
}

// Returns the count of the word that has `place`.
std::int64_t DiskTrainer::count_at(Place place) const {
  const Place end = end_of(place);
  const std::uint32_t count = slots_[end] & ~WORD_END;
  if (count != LARGE_COUNT)
    return count;
  return std::lower_bound(large_counts_.begin(), large_counts_.end(),
                          std::pair<Place, std::int64_t>(end, 0))
      ->second;
}

// Returns the sum of the counts of the words at the places where the pair still is.
std::int64_t DiskTrainer::live_count(PairKey key, const Place *places,
                                     std::size_t count) const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (is_at(key, places[i]))
      sum += count_at(places[i]);
  return sum;
}

bool DiskTrainer::is_at(PairKey key, Place place) const {
  const Symbol left = left_of(key);
  return slots_[place] == left && slots_[place + tokens_.length(left)] == right_of(key);
}

bool DiskTrainer::may_merge(Symbol left, Symbol right) const {
  const std::uint64_t length = std::uint64_t{tokens_.length(left)} + tokens_.length(right);
  return length < max_token_length_ || length == 2;
}

std::vector<std::uint32_t> DiskTrainer::read(std::uint64_t start, std::size_t count) const {
  std::vector<std::uint32_t> numbers(count);
  if (count != 0)
    log_.read(start, numbers.data(), count);
  return numbers;
}

bool DiskTrainer::step(std::size_t tokens, FunctionRef<void()> check_interrupt) {
  std::size_t entries = 0;
  while (this->tokens() < tokens) {
    if (++entries % ENTRIES_PER_CHECK == 0)
      check_interrupt();
    const MergeQueue::Entry *const first = queue_.first();
    if (first == nullptr) {
      is_exhausted_ = has_dropped_ && least_count_ > min_count_;
      return false;
    }
    const MergeQueue::Entry top = *first;
    const MergeQueue::Entry now = {pairs_.find(top.order)->count, top.order, top.bucket};
    if (now.count != top.count) {
      queue_.replace_first(now);
      continue;
    }
    if (now.count < least_count_) {
      is_exhausted_ = has_dropped_ && least_count_ > min_count_;
      if (is_exhausted_ || now.count < min_count_)
        return false;
    }
    queue_.remove_first();
    merge(Bucket(buckets_[top.bucket])); // copies the bucket, since merge adds buckets
  }
  return true;
}

// As in Trainer: if the pair has several buckets, all its places in the words of this bucket.
std::vector<DiskTrainer::Place> DiskTrainer::places_of(const Bucket &bucket) {
  std::vector<Place> result = read(bucket.start, bucket.size);
  const std::uint32_t last = pairs_.find(bucket.key)->bucket;
  if (buckets_[last].previous == NO_INDEX)
    return result;
  std::vector<Place> words; // their ends, ascending
  for (const Place place : result)
    words.push_back(end_of(place));
  for (std::uint32_t i = last; i != NO_INDEX; i = buckets_[i].previous)
    for (const Place place : read(buckets_[i].start, buckets_[i].size))
      if (std::binary_search(words.begin(), words.end(), end_of(place)))
        result.push_back(place);
  std::sort(result.begin(), result.end());
  return result;
}

DiskTrainer::Change &DiskTrainer::change_at(std::uint32_t &index, PairKey gained,
                                            PairKey lost) {
  if (index == NO_INDEX) {
    index = static_cast<std::uint32_t>(changes_.size());
    changes_.push_back({gained, lost, 0, 0, 0, NO_INDEX, 0});
  }
  return changes_[index];
}

void DiskTrainer::gain(Change &change, std::int64_t count, Place place) {
  change.gained_count += count;
  ++change.size;
  changed_places_.push_back({static_cast<std::uint32_t>(&change - changes_.data()), place});
}

void DiskTrainer::merge(const Bucket &bucket) {
  const PairKey key = bucket.key;
  const std::vector<Place> places = places_of(bucket);
  Symbol result = tokens_.find(left_of(key), right_of(key));
  const bool is_known = result != LearnedTokens::NO_SYMBOL;
  if (!is_known)
    result = tokens_.add(left_of(key), right_of(key), nullptr);
  merges_.push_back({left_of(key), right_of(key), result});
  left_change_.resize(tokens_.size(), NO_INDEX);
  right_change_.resize(tokens_.size(), NO_INDEX);
  dropped_.resize(tokens_.size());
  changed_places_.reserve(2 * places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i + PREFETCHED_PLACES < places.size())
      prefetch(&slots_[places[i + PREFETCHED_PLACES]]);
    if (is_at(key, places[i]))
      replace(key, places[i], result);
  }
  apply_changes(key, result, is_known);
  for (const Change &change : changes_)
    left_change_[left_of(change.gained)] = right_change_[right_of(change.gained)] = NO_INDEX;
  clear_buffer(changes_);
  clear_buffer(changed_places_);
}

// As in Trainer.
void DiskTrainer::replace(PairKey key, Place place, Symbol result) {
  const Symbol left = left_of(key);
  const Symbol right = right_of(key);
  const Place middle = place + tokens_.length(left);
  const Place end = place + tokens_.length(result);
  const std::int64_t count = count_at(place);
  const std::uint32_t before = slots_[place - 1];
  if (!is_boundary(before)) {
    Change &change =
        change_at(left_change_[before], pair_key(before, result), pair_key(before, left));
    change.lost_count += count;
    if (may_merge(before, result))
      gain(change, count, place - tokens_.length(before));
  }
  slots_[middle - 1] = slots_[middle] = MERGED_SLOT;
  slots_[place] = slots_[end - 1] = result;
  const std::uint32_t after = slots_[end];
  if (!is_boundary(after)) {
    Change &change =
        change_at(right_change_[after], pair_key(result, after), pair_key(right, after));
    change.lost_count += count;
    if (may_merge(result, after))
      gain(after != result
               ? change
               : change_at(left_change_[after], pair_key(result, after), pair_key(after, left)),
           count, place);
  }
}

// Updates the counts of pairs, and writes the gained places to the log.
void DiskTrainer::apply_changes(PairKey merged, Symbol result, bool is_known) {
  for (const Change &change : changes_) {
    pairs_.prefetch(change.gained);
    pairs_.prefetch(change.lost);
  }
  const auto is_gained = [](const Change &change) { return change.size != 0; };
  for (const Change &change : changes_)
    if (PairCounts::Pair *pair = is_gained(change) ? pairs_.find(change.gained) : nullptr)
      pair->count += change.gained_count;
  for (const Change &change : changes_)
    if (PairCounts::Pair *pair =
            change.lost != NO_LOST_PAIR ? pairs_.find(change.lost) : nullptr)
      pair->count -= change.lost_count;
  // Pairs that are not in pairs_ and have dropped buckets get these back.
  std::vector<std::vector<OldBucket>> restored;
  std::vector<std::int64_t> restored_counts;
  if (is_known && has_dropped_) {
    restored = restorable(result);
    restored_counts.resize(restored.size());
    for (const Change &change : changes_)
      if (change.restored != NO_INDEX)
        for (const OldBucket &old : restored[change.restored])
          restored_counts[change.restored] +=
              live_count(change.gained, read(old.start, old.size).data(), old.size);
    for (const ChangedPlace &changed : changed_places_) {
      const Change &change = changes_[changed.change];
      if (change.restored != NO_INDEX)
        restored_counts[change.restored] += live_count(change.gained, &changed.place, 1);
    }
  }
  // A merge may lose a pair that it gained. Only two pairs may be both.
  const auto lost_again = [&](const Change &change) -> std::int64_t {
    std::uint32_t index = NO_INDEX;
    if (change.gained == pair_key(result, left_of(merged)))
      index = left_change_[result];
    if (change.gained == pair_key(right_of(merged), result))
      index = right_change_[result];
    return index == NO_INDEX ? 0 : changes_[index].lost_count;
  };
  // Decide which gained buckets are kept, dropped, or empty.
  constexpr std::uint64_t NOWHERE = static_cast<std::uint64_t>(-1);
  std::vector<std::uint32_t> dropped; // indices in changes_
  std::size_t size = 0;
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    Change &change = changes_[i];
    change.start = NOWHERE;
    if (!is_gained(change))
      continue;
    PairCounts::Pair *pair = pairs_.find(change.gained);
    if (pair == nullptr && change.restored != NO_INDEX) {
      if (restored_counts[change.restored] <= 0)
        continue;
      pair = &pairs_.find_or_add(change.gained);
      pair->count = restored_counts[change.restored];
      for (const OldBucket &old : restored[change.restored])
        add_bucket(change.gained, old.start, old.size, *pair);
    } else if (pair == nullptr) {
      const std::int64_t count = change.gained_count - lost_again(change);
      if (count <= 0)
        continue;
      if (count < least_count_) {
        dropped.push_back(static_cast<std::uint32_t>(i));
        continue;
      }
      pair = &pairs_.find_or_add(change.gained);
      pair->count = count;
    }
    if (pair->count <= 0)
      continue;
    change.start = size;
    add_bucket(change.gained, log_size_ + size, change.size, *pair);
    size += change.size;
  }
  const std::size_t kept = size;
  for (const std::uint32_t i : dropped) {
    changes_[i].start = size;
    size += changes_[i].size;
    dropped_pairs_.add(filter_hash(changes_[i].gained));
  }
  out_.resize(size);
  for (const ChangedPlace &changed : changed_places_)
    if (Change &change = changes_[changed.change]; change.start != NOWHERE)
      out_[static_cast<std::size_t>(change.start++)] = changed.place;
  if (!dropped.empty()) {
    has_dropped_ = true;
    dropped_[result].push_back({log_size_ + kept, static_cast<std::uint32_t>(size - kept),
                                static_cast<std::uint32_t>(dropped.size())});
    for (const std::uint32_t i : dropped)
      out_.insert(out_.end(), {left_of(changes_[i].gained), right_of(changes_[i].gained),
                               changes_[i].size});
  }
  if (!out_.empty())
    log_.append(out_.data(), out_.size());
  log_size_ += out_.size();
  clear_buffer(out_);
}

// Finds the dropped buckets of the gained pairs. Sets Change::restored of pairs that have some
// to the index of their buckets in the result, which are in the order of the log.
std::vector<std::vector<DiskTrainer::OldBucket>> DiskTrainer::restorable(Symbol result) {
  std::vector<std::vector<OldBucket>> found;
  // Adds the dropped buckets of merges that made `symbol`, for the changes `change_of`.
  const auto search = [&](Symbol symbol, auto change_of) {
    for (const Dropped &dropped : dropped_[symbol]) {
      const std::vector<std::uint32_t> index =
          read(dropped.start + dropped.size, dropped.count * INDEX_NUMBERS);
      std::uint64_t start = dropped.start;
      for (std::size_t i = 0; i < index.size(); i += INDEX_NUMBERS) {
        Change *change = change_of(pair_key(index[i], index[i + 1]));
        if (change != nullptr) {
          if (change->restored == NO_INDEX) {
            change->restored = static_cast<std::uint32_t>(found.size());
            found.emplace_back();
          }
          found[change->restored].push_back({start, index[i + 2]});
        }
        start += index[i + 2];
      }
    }
  };
  const auto is_candidate = [&](const Change &change) {
    return change.size != 0 && pairs_.find(change.gained) == nullptr &&
           dropped_pairs_.may_have(filter_hash(change.gained)) != 0;
  };
  search(result, [&](PairKey key) -> Change * {
    // A pair (result, result) is gained in a change of left_change_.
    const std::uint32_t index =
        right_of(key) == result ? left_change_[left_of(key)] : right_change_[right_of(key)];
    if (index == NO_INDEX || changes_[index].gained != key || !is_candidate(changes_[index]))
      return nullptr;
    return &changes_[index];
  });
  for (Change &change : changes_) {
    if (!is_candidate(change))
      continue;
    const Symbol left = left_of(change.gained);
    const Symbol neighbor = left == result ? right_of(change.gained) : left;
    if (neighbor != result)
      search(neighbor, [&](PairKey key) { return key == change.gained ? &change : nullptr; });
  }
  for (std::vector<OldBucket> &buckets : found)
    std::sort(buckets.begin(), buckets.end(),
              [](const OldBucket &a, const OldBucket &b) { return a.start < b.start; });
  return found;
}

// Adds a bucket of a pair, whose count is final for the current merge.
void DiskTrainer::add_bucket(PairKey key, std::uint64_t start, std::uint32_t size,
                             PairCounts::Pair &pair) {
  if (buckets_.size() >= NO_INDEX)
    throw std::length_error("expected fewer than 4 billion pairs");
  const auto index = static_cast<std::uint32_t>(buckets_.size());
  buckets_.push_back({key, start, size, std::exchange(pair.bucket, index)});
  queue_.push({pair.count, key, index});
}

} // namespace pretok
