// Learns merges like Trainer, in less memory: the places of pairs are on disk, and pairs whose
// count is too low to merge are not in memory. The results are those of
// TieBreak::HUGGINGFACE, for words of bytes.
//
// A slot takes 4 bytes: a symbol, MERGED_SLOT, or the boundary after a word with the count
// of the word. All buckets of places are written to a log, one merge after the other, and read
// again when their pair is merged. Offsets in the log count numbers of 4 bytes:
//
//   merge     places of kept buckets, places of dropped buckets, index of the dropped buckets
//   index     (left, right, size) for each dropped bucket
//
// A bucket is dropped if its pair is new and has a count below `least_count`. Its pair cannot
// be merged before it gains places again. It gains places only if a merge makes one of its
// symbols again, with other parts: then the dropped buckets of the pair are read from the log.
// If no pair with `least_count` is left, training ends with is_exhausted(): then train again
// with a lower `least_count`.
#pragma once

#include "core/base/function_ref.hpp"
#include "core/base/open_table.hpp"
#include "core/train/learned_tokens.hpp"
#include "core/train/merge_queue.hpp"
#include "core/train/pair_counts.hpp"
#include "core/train/trainer.hpp"
#include "core/train/word_runs.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace pretok {

struct DiskLog {
  std::function<void(const std::uint32_t *, std::size_t)> append; // numbers
  // Reads `count` numbers from `offset` on.
  std::function<void(std::uint64_t offset, std::uint32_t *, std::size_t count)> read;
};

class DiskTrainer {
public:
  using Symbol = LearnedTokens::Symbol;
  using Merge = Trainer::Merge;

  // Trains on the words of `run`, whose size is `size`. Throws std::length_error if the words
  // take 4 GiB or more, and what `log` and `check_interrupt` throw. The trainer is then
  // unusable.
  DiskTrainer(RunReader &run, const RunSize &size, std::int64_t min_frequency,
              std::uint64_t max_token_length, std::int64_t least_count, DiskLog log,
              FunctionRef<void()> check_interrupt);

  // Merges until there are `tokens` learned tokens. Returns false if it stops earlier.
  bool step(std::size_t tokens, FunctionRef<void()> check_interrupt);
  // Returns true if `step` stopped because only pairs below `least_count` are left.
  bool is_exhausted() const { return is_exhausted_; }
  std::size_t tokens() const { return tokens_.size() - names_.size(); }
  // As in Trainer.
  std::vector<Merge> merges() const { return Trainer::last_merges(merges_, names_); }
  std::vector<Merge> first_merges() const { return Trainer::first_merges(merges_, names_); }

private:
  using Place = std::uint32_t; // index in slots_
  static constexpr std::uint32_t NO_INDEX = PairCounts::NO_BUCKET;

  struct Bucket {
    PairKey key;
    std::uint64_t start; // in the log
    std::uint32_t size;
    std::uint32_t previous; // index in buckets_, or NO_INDEX
  };
  // As in Trainer.
  struct Change {
    PairKey gained;
    PairKey lost;
    std::int64_t gained_count;
    std::int64_t lost_count;
    std::uint32_t size;
    std::uint32_t restored; // index in `restored` of apply_changes, or NO_INDEX
    std::uint64_t start;    // in out_, of the gained places
  };
  struct ChangedPlace {
    std::uint32_t change;
    Place place;
  };
  // The dropped buckets of a merge.
  struct Dropped {
    std::uint64_t start; // in the log
    std::uint32_t size;  // of all places
    std::uint32_t count; // of buckets
  };
  struct OldBucket {
    std::uint64_t start;
    std::uint32_t size;
  };
  struct LongWord {
    Place start;
    Place end; // the boundary after the word
  };

  void load(RunReader &run, const RunSize &size, FunctionRef<void()> check_interrupt);
  void write_byte_pairs(FunctionRef<void()> check_interrupt);
  Place end_of(Place place) const;
  std::int64_t count_at(Place place) const;
  std::int64_t live_count(PairKey key, const Place *places, std::size_t count) const;
  bool is_at(PairKey key, Place place) const;
  bool may_merge(Symbol left, Symbol right) const;
  std::vector<std::uint32_t> read(std::uint64_t start, std::size_t count) const;
  std::vector<Place> places_of(const Bucket &bucket);
  Change &change_at(std::uint32_t &index, PairKey gained, PairKey lost);
  void gain(Change &change, std::int64_t count, Place place);
  void merge(const Bucket &bucket);
  void replace(PairKey key, Place place, Symbol result);
  void apply_changes(PairKey merged, Symbol result, bool is_known);
  std::vector<std::vector<OldBucket>> restorable(Symbol result);
  std::uint64_t filter_hash(PairKey key) const {
    return hash_words(left_of(key), right_of(key), filter_key_);
  }
  void add_bucket(PairKey key, std::uint64_t start, std::uint32_t size, PairCounts::Pair &pair);

  std::int64_t min_count_;
  std::uint64_t max_token_length_;
  std::int64_t least_count_;
  DiskLog log_;
  std::uint64_t log_size_ = 0;
  bool is_exhausted_ = false;
  bool has_dropped_ = false;
  std::vector<std::uint32_t> names_;
  LearnedTokens tokens_;
  std::vector<std::uint32_t> slots_;
  std::vector<LongWord> long_words_;
  // The counts of words that do not fit in a boundary, by the places of the boundaries.
  std::vector<std::pair<Place, std::int64_t>> large_counts_;
  PairCounts pairs_;
  std::vector<Bucket> buckets_;
  MergeQueue queue_;
  std::vector<Merge> merges_;
  std::vector<std::vector<Dropped>> dropped_; // by the symbol that the merge made
  HashKey filter_key_ = hash_key();
  BitFilter dropped_pairs_;
  std::vector<Change> changes_;
  std::vector<ChangedPlace> changed_places_;
  std::vector<std::uint32_t> out_; // for the log
  std::vector<std::uint32_t> left_change_;
  std::vector<std::uint32_t> right_change_;
};

} // namespace pretok
