// Finding the merges: the pair of symbols that is most frequent becomes a symbol, again and
// again. bpe/training/trainer.py is the twin, and says what the tie-breaks are.
//
// All words lie one behind the other in one array, with a slot for each byte. A symbol has its
// id in the first and the last of its slots, so both its neighbours are changed_place from its
// place. An entry of the heap is a pair with a count that may have become less since, and has
// the places where the pair was; merging looks at no others. So all merges together take time
// n * log n in the size of the words, be they many or one.
#pragma once

#include "core/train/learned_tokens.hpp"
#include "core/train/pair_counts.hpp"
#include "core/train/word.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace pretok {

enum class TieBreak { HUGGINGFACE, FIRST_SEEN };

struct TrainerOptions {
  TieBreak tie_break;
  std::int64_t min_frequency;
  std::uint64_t max_token_length;
};

class Trainer {
public:
  using Symbol = LearnedTokens::Symbol;
  struct Merge {
    Symbol left;
    Symbol right;
    Symbol result;
  };

  // `check_interrupt` is called every few milliseconds, here and in `step`; what it throws goes
  // to the caller, and the trainer is of no use any more. Throws std::length_error for 4 GiB of
  // distinct pre-tokens.
  Trainer(const std::vector<Word> &words, const TrainerOptions &options,
          const std::function<void()> &check_interrupt);

  // Merges until `tokens` have been made in all. Returns false if no pair is left for that.
  bool step(std::size_t tokens, const std::function<void()> &check_interrupt);
  std::size_t tokens() const { return tokens_.size() - 256; }
  // The merges in order, over symbols: the 256 bytes, and 256 + k for the k-th token made.
  std::vector<Merge> merges() const;
  // The merge that made each token, in order. It may come late in merges(), if the same pair
  // was merged again.
  std::vector<Merge> first_merges() const;

private:
  using Place = std::uint32_t;
  static constexpr std::uint32_t NO_INDEX = PairCounts::NO_BUCKET;

  struct Slot {
    Symbol symbol;
    std::uint32_t word;
  };
  // A part of places_: places of a pair, in order. Another bucket of the same pair, `previous`,
  // can only be there if a token was made in two ways.
  struct Bucket {
    PairKey key;
    std::size_t start;
    std::uint32_t size;
    std::uint32_t previous;
  };
  struct Entry {
    std::int64_t count;
    std::uint64_t order; // of equal counts the least wins
    std::uint32_t bucket;
  };
  // What the merge at hand does beside one symbol: a pair comes, with its places, and one goes.
  struct Change {
    PairKey gained;
    PairKey lost;
    std::int64_t gained_count;
    std::int64_t lost_count;
    std::uint32_t size; // how many places
    std::uint32_t bucket;
  };
  struct ChangedPlace {
    std::uint32_t change;
    Place place;
  };
  class PeriodicCheck;

  struct Less {
    bool operator()(const Entry &a, const Entry &b) const;
  };
  void load(const std::vector<Word> &words, PeriodicCheck &periodic_check);
  void count_pairs(PeriodicCheck &periodic_check);
  Change &change_at(std::uint32_t &index, PairKey gained, PairKey lost);
  void gain(Change &change, std::int64_t count, Place place);
  void apply_changes(PeriodicCheck &periodic_check);
  void push(const Entry &entry);
  void replace_top(const Entry &entry);
  bool refill();
  bool is_at(PairKey key, Place place) const;
  std::uint64_t order_of(Bucket &bucket) const;
  std::vector<Place> places_of(const Bucket &bucket);
  Symbol token_of(PairKey key, const std::vector<Place> &places);
  void merge(const Bucket &bucket, PeriodicCheck &periodic_check);
  void replace(PairKey key, Place place, Symbol result);
  static Merge named(const Merge &merge);

  TrainerOptions options_;
  LearnedTokens tokens_;
  std::uint64_t bytes_start_ = 0; // of the bytes of the slots, in tokens_
  std::vector<Slot> slots_;
  std::vector<std::int64_t> word_counts_;
  PairCounts pairs_;
  std::vector<Place> places_;
  std::vector<Bucket> buckets_;
  std::vector<Entry> heap_; // all entries of `min_heap_count_` or more; the others wait
  std::vector<Entry> waiting_;
  std::int64_t min_heap_count_ = 0;
  std::vector<Merge> merges_;
  std::vector<Change> changes_;
  std::vector<ChangedPlace> changed_places_;
  // For each symbol, which of changes_ is before it, and behind it, or NO_INDEX.
  std::vector<std::uint32_t> left_change_;
  std::vector<std::uint32_t> right_change_;
};

} // namespace pretok
