// Finding the merges: the pair of symbols that is most frequent becomes a symbol, again and
// again. bpe/trainer.py is the twin, and says what the tie-breaks are.
//
// All words lie one behind the other in one array, with a slot for each byte. A symbol has its
// id in the first and the last of its slots, so both its neighbours are found from its place.
// An entry of the heap is a pair with a count that may have become less since, and has the
// places where the pair was; merging looks at no others. So all merges together take time
// n * log n in the size of the words, be they many or one.
#pragma once

#include "made_tokens.hpp"
#include "pair_counts.hpp"
#include "word_counts.hpp"

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
  using Symbol = MadeTokens::Symbol;
  struct Merge {
    Symbol left;
    Symbol right;
    Symbol result;
  };

  // `pulse` is called every few milliseconds, here and in `step`; what it throws goes to the
  // caller, and the trainer is of no use any more. Throws std::length_error for 4 GiB of
  // distinct pre-tokens.
  Trainer(const WordTable &words, const TrainerOptions &options,
          const std::function<void()> &pulse);

  // Merges until `tokens` have been made in all. Returns false if no pair is left for that.
  bool step(std::size_t tokens, const std::function<void()> &pulse);
  std::size_t tokens() const { return tokens_.size() - 256; }
  // The merges in order, over symbols: the 256 bytes, and 256 + k for the k-th token made.
  std::vector<Merge> merges() const;

private:
  using Place = std::uint32_t;
  static constexpr std::uint32_t NONE = PairCounts::NONE;

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
  // What the merge at hand brings: pairs, and their places.
  struct Touched {
    PairKey key;
    std::uint32_t size;
    std::uint32_t bucket;
  };
  struct Found {
    std::uint32_t touched;
    Place place;
  };
  class Pulse;

  static bool less(const Entry &a, const Entry &b);
  void load(const WordTable &words, Pulse &pulse);
  void count_pairs(Pulse &pulse);
  void gain(PairKey key, std::int64_t count, Place place);
  void lose(PairKey key, std::int64_t count);
  void push_touched(Pulse &pulse);
  bool is_at(PairKey key, Place place) const;
  std::uint64_t order_of(Bucket &bucket) const;
  std::vector<Place> places_of(const Bucket &bucket);
  Symbol token_of(PairKey key, const std::vector<Place> &places);
  void merge(const Bucket &bucket, Pulse &pulse);
  void replace(PairKey key, Place place, Symbol result);

  TrainerOptions options_;
  MadeTokens tokens_;
  std::uint64_t bytes_start_ = 0; // of the bytes of the slots, in tokens_
  std::vector<Slot> slots_;
  std::vector<std::int64_t> word_counts_;
  PairCounts pairs_;
  std::vector<Place> places_;
  std::vector<Bucket> buckets_;
  std::vector<Entry> heap_;
  std::vector<Merge> merges_;
  std::vector<Touched> touched_;
  std::vector<Found> found_;
};

} // namespace pretok
