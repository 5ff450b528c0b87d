// Learns merges: repeatedly replaces the most frequent pair of symbols by a new symbol.
// bpe/training/trainer.py is the same algorithm in Python, and defines the tie-breaks.
//
// All words (distinct pre-tokens) lie in one array of slots (slots.hpp). An entry of the queue
// has the count of a pair and a bucket. The count may be outdated (too high); then the entry is
// put back with the current count. The bucket has the places at which the pair was when it got
// them. A merge visits only these places, and those of other buckets of the pair in the same
// words. All merges together take O(n log n) time for words of n bytes in total.
//
// Most pairs are too rare to be merged ever. So only pairs that reach a threshold, once they
// get places, have a bucket, a count that is kept up to date, and an entry in the queue. Any
// other pair waits: it has its places, and the count that it had when it got them
// (place_lists.hpp). If no entry of the queue has a count of at least the threshold, the
// threshold is lowered, and pairs that reach it get what they lack; the places that still have
// the pair give the current count. A pair also gets them if a later merge makes more of its
// places, so a waiting pair has one list of places. Proof that merges are those of a queue with
// all pairs: the count of a waiting pair is below the threshold, so its entry would not come
// first before the threshold is lowered; and until then, it would keep the count with which the
// pair waits.
#pragma once

#include "core/base/function_ref.hpp"
#include "core/train/learned_tokens.hpp"
#include "core/train/merge_queue.hpp"
#include "core/train/pair_counts.hpp"
#include "core/train/periodic_check.hpp"
#include "core/train/place_lists.hpp"
#include "core/train/slots.hpp"
#include "core/train/token_rows.hpp"
#include "core/train/trainer_memory.hpp"
#include "core/train/word.hpp"
#include "core/train/word_runs.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Among pairs of equal counts, HUGGINGFACE merges the pair with the lowest PairKey, and
// FIRST_SEEN the pair that occurs first in the words.
enum class TieBreak { HUGGINGFACE, FIRST_SEEN };

struct TrainerOptions {
  TieBreak tie_break;         // which of several pairs with the highest count is merged
  std::int64_t min_frequency; // pairs with a lower count are not merged
  // In bytes or characters. If two symbols that become neighbors by a merge are together this
  // long or longer, they are not counted as a pair, so they never merge at this place.
  std::uint64_t max_token_length;
  // True if two neighbors merge at once if their units are those of a token that was there at
  // the start, as in a vocabulary whose merges have the rank of the token that they make. The
  // words have no such neighbors before any merge, and these merges are not in the results.
  // Needs TieBreak::HUGGINGFACE.
  bool joins_known = false;
  // No merge makes a token of more words. A word is a run of units that are no white space.
  std::uint32_t max_words = static_cast<std::uint32_t>(-1);
};

class Trainer {
public:
  using Symbol = LearnedTokens::Symbol;
  struct Merge {
    Symbol left;
    Symbol right;
    Symbol result;
  };

  // The constructor and `step` call `check_interrupt` every few milliseconds and pass its
  // exceptions on. Both throw std::length_error if there are 4 billion buckets, and the
  // constructor if the distinct pre-tokens take 4 GiB or more. The trainer is unusable after an
  // exception.
  Trainer(const std::vector<Word> &words, const TrainerOptions &options,
          FunctionRef<void()> check_interrupt);
  // Trains on the words of a run, with lists in `memory`.
  Trainer(RunReader &run, const TrainerOptions &options, TrainerMemory memory,
          FunctionRef<void()> check_interrupt);
  // Goes on with a vocabulary. `rows` is empty afterwards.
  Trainer(const TokenAlphabet &alphabet, TokenRows &rows, const TrainerOptions &options,
          TrainerMemory memory, FunctionRef<void()> check_interrupt);

  // Merges until there are `tokens` learned tokens. Returns false if it stops earlier, because
  // no pair is left that may be merged.
  bool step(std::size_t tokens, FunctionRef<void()> check_interrupt);
  // Returns the number of learned tokens.
  std::size_t tokens() const { return tokens_.size() - names_.size(); }
  // Returns the merges in order. If words consist of bytes, a symbol is a byte (0 to 255), or
  // 256 + k for learned token k, counted from 0. If words consist of n tokens, a symbol is the
  // index of a token, or n + k.
  std::vector<Merge> merges() const { return last_merges(merges_, names_); }
  // Returns the first merge of each token, in order. A pair may be merged several times;
  // merges() has only the last merge of each pair.
  std::vector<Merge> first_merges() const { return first_merges(merges_, names_); }

  // The same for any merges of symbols. Symbol s of the alphabet is names[s] in the results.
  static std::vector<Merge> last_merges(const std::vector<Merge> &merges,
                                        const std::vector<std::uint32_t> &names);
  static std::vector<Merge> first_merges(const std::vector<Merge> &merges,
                                         const std::vector<std::uint32_t> &names);
  // Returns the bytes in the order in which Hugging Face's trainer compares them: by the
  // character that stands for the byte in GPT-2's vocabulary. Bytes that stand for themselves
  // come first.
  static std::vector<std::uint32_t> byte_order();

private:
  static constexpr std::uint32_t NO_INDEX = PairCounts::NO_BUCKET;
  static constexpr char TOO_MANY_TOKENS[] = "expected at most 4 million tokens";
  // The units of all learned tokens together. bpe/training/trainer.py has the same number.
  static constexpr std::uint64_t MAX_LEARNED_UNITS = std::uint64_t{1} << 28;
  static constexpr std::size_t PLACES_AHEAD = 8; // the prefetch distance, in places

  // Places of a pair, in ascending order. A pair gets several buckets only if several merges
  // make a token of the pair. `previous` is the pair's bucket before this one.
  struct Bucket {
    PairKey key;
    Place *places;
    std::uint32_t size;     // 0 after the pair was merged at these places
    std::uint32_t previous; // index in buckets_, or NO_INDEX
  };
  // The effect of the current merge next to one neighbor symbol: the pair `gained` gains
  // places, and the pair `lost` loses places.
  struct Change {
    PairKey gained;
    PairKey lost;
    std::int64_t gained_count;
    std::int64_t lost_count;
    std::uint32_t size; // number of gained places
    Place *next;        // where the next gained place is stored
    bool was_waiting;   // the pair waited until this merge
  };
  struct ChangedPlace {
    std::uint32_t change; // index in changes_
    Place place;
  };

  void move_words_if_short(const PeriodicCheck &periodic_check);
  template <typename VisitWords>
  void load(VisitWords visit_words, PeriodicCheck &periodic_check);
  void find_pairs(PeriodicCheck &periodic_check);
  void find_pairs_of(Symbol left, const Place *places, std::size_t size,
                     PeriodicCheck &periodic_check);
  void add_pair(PairKey key, std::int64_t count, Place *places, std::uint32_t size);
  void add_bucket(PairCounts::Pair &pair, std::int64_t count, std::int64_t entry_count,
                  Place *places, std::uint32_t size);
  std::int64_t count_at(PairKey key, const Place *places, std::uint32_t size) const;
  void end_waiting(WaitingPair &pair, PeriodicCheck &periodic_check);
  bool lower_threshold(PeriodicCheck &periodic_check);
  void end_waiting_of_gained(Symbol result, PeriodicCheck &periodic_check);
  Change &change_at(std::uint32_t &index, PairKey gained, PairKey lost);
  Change *change_of(PairKey gained, Symbol result);
  void gain(Change &change, std::int64_t count, Place place);
  void apply_changes(Symbol result, bool is_known, PeriodicCheck &periodic_check);
  bool is_at(PairKey key, Place place) const {
    return slots_.is_at(left_of(key), right_of(key), place);
  }
  Symbol known_join(Symbol left, Symbol right) const;
  bool may_merge(Symbol left, Symbol right) const;
  std::uint64_t order_of(Bucket &bucket) const;
  std::vector<Place> places_of(const Bucket &bucket) const;
  Symbol token_of(PairKey key);
  void merge(std::uint32_t index, PeriodicCheck &periodic_check);
  void join(Place place, PeriodicCheck &periodic_check);
  bool replace(PairKey key, Place place, Symbol result);

  TrainerOptions options_;
  TrainerMemory memory_;
  // For each symbol of the alphabet, the number of this symbol in the results: its byte, or the
  // index of its character.
  std::vector<std::uint32_t> names_;
  LearnedTokens tokens_;
  Slots slots_;
  PlaceLists place_lists_{memory_};
  PairCounts pairs_; // without the pairs that wait
  std::vector<Bucket> buckets_;
  MergeQueue queue_;
  WaitingPairs waiting_{memory_};
  std::int64_t threshold_ = WaitingPairs::MAX_COUNT;
  std::vector<Merge> merges_;
  std::uint64_t learned_units_ = 0; // of all learned tokens
  // The number of groups in waiting_ after group 0 when each symbol was last made, and for each
  // group the one before with its symbol; or NO_INDEX.
  std::vector<std::uint32_t> last_group_;
  std::vector<std::uint32_t> previous_group_;
  std::vector<Change> changes_;
  std::vector<ChangedPlace> changed_places_;
  // left_change_[s] is the index in changes_ of the change next to the left neighbor s, or
  // NO_INDEX. right_change_[s] is the index of the change next to the right neighbor s, or
  // NO_INDEX.
  std::vector<std::uint32_t> left_change_;
  std::vector<std::uint32_t> right_change_;
};

} // namespace pretok
