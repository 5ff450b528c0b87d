// Merges the bytes of a pre-token into tokens. bpe/merge.py does the same in Python.
//
// Each step merges the two neighbors with the lowest rank, and the leftmost of equal ranks.
// Merging ends when no two neighbors can merge.
//
// A Symbol is an unsigned number. find(left, right) returns the rank and the result of merging
// two symbols: a Merged (pair_table.hpp) or a type with the same members, whose `id` is a
// Symbol. The rank is NO_RANK if the two symbols do not merge.
#pragma once

#include "core/base/bits.hpp"
#include "core/base/ids.hpp"
#include "core/bpe/pair_table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

namespace pretok {

// merge_short scans for the lowest rank before each merge. Beyond this many symbols
// merge_in_rounds is faster.
inline constexpr std::size_t MAX_SCANNED = 64;
// merge_in_rounds applies one rank per scan. Beyond this many symbols merge_long, which has a
// heap, is faster.
inline constexpr std::size_t MAX_IN_ROUNDS = 1024;

// Returns the index of the lowest of `size` ranks. If several ranks are lowest, returns the
// first index. Reads groups of four ranks, so the caller must have padded `ranks` with NO_RANK
// up to the next multiple of 4.
inline std::size_t lowest(const std::uint32_t *ranks, std::size_t size) {
#if PRETOK_SSE2
  const auto load = [ranks](std::size_t at) {
    return _mm_load_si128(reinterpret_cast<const __m128i *>(ranks + at));
  };
  __m128i low = load(0);
  for (std::size_t at = 4; at < size; at += 4)
    low = least_sse2(low, load(at));
  low = least_of_four_sse2(low);
  for (std::size_t at = 0;; at += 4) {
    const int equal = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(load(at), low)));
    if (equal != 0)
      return at + lowest_bit(static_cast<std::uint64_t>(equal));
  }
#else
  std::size_t at = 0;
  for (std::size_t i = 1; i < size; ++i)
    if (ranks[i] < ranks[at])
      at = i;
  return at;
#endif
}

// Merges `size` symbols in place. `size` must be from 1 to MAX_SCANNED. Returns the number of
// symbols that remain. O(size^2).
template <typename Symbol, typename Find>
std::size_t merge_short(Symbol *symbols, std::size_t size, Find find) {
  alignas(16) std::array<std::uint32_t, MAX_SCANNED + 4> ranks;
  std::array<Symbol, MAX_SCANNED> results;
  const auto look_up = [&](std::size_t at) {
    const auto merged = find(symbols[at], symbols[at + 1]);
    ranks[at] = merged.rank;
    results[at] = merged.id;
  };
  for (std::size_t i = 0; i + 1 < size; ++i)
    look_up(i);
  for (std::size_t i = size - 1; i < size + 3; ++i)
    ranks[i] = NO_RANK;
  while (size > 1) {
    const std::size_t at = lowest(ranks.data(), size - 1);
    if (ranks[at] == NO_RANK)
      break;
    symbols[at] = results[at];
    --size;
    for (std::size_t i = at + 1; i < size; ++i)
      symbols[i] = symbols[i + 1];
    for (std::size_t i = at; i < size; ++i) {
      ranks[i] = ranks[i + 1];
      results[i] = results[i + 1];
    }
    if (at > 0)
      look_up(at - 1);
    if (at + 1 < size)
      look_up(at);
  }
  return size;
}

// Merges at most MAX_IN_ROUNDS symbols. Each round merges all pairs of the lowest rank, from
// left to right. The result is exact if no new symbol forms a pair of a lower rank with a
// neighbor. In an ordered vocabulary (ordered_merges.hpp) this is always so. If a pair of a
// lower rank forms, merge_in_rounds returns false, and leaves meaningless `symbols`. Time:
// O(size * distinct ranks). Faster than a heap on runs of one character. Takes 12 KB of stack,
// and 4 KB more if a Symbol has 64 bits.
template <typename Symbol, typename Find>
bool merge_in_rounds(std::vector<Symbol> &symbols, Find find) {
  using Result = decltype(find(symbols[0], symbols[0]));
  alignas(16) std::array<std::uint32_t, MAX_IN_ROUNDS + 4> ranks;
  ranks.fill(NO_RANK);
  std::array<Symbol, MAX_IN_ROUNDS> results;
  std::array<std::uint32_t, MAX_IN_ROUNDS> merged_at;
  std::size_t size = symbols.size();
  const auto look_up = [&](std::size_t at) {
    const Result merge =
        at + 1 < size ? find(symbols[at], symbols[at + 1]) : Result{NO_RANK, NO_ID};
    ranks[at] = merge.rank;
    results[at] = merge.id;
  };
  for (std::size_t at = 0; at < size; ++at)
    look_up(at);
  while (size > 1) {
    for (std::size_t at = size; at < size + 4; ++at)
      ranks[at] = NO_RANK;
    const std::size_t first = lowest(ranks.data(), size);
    const std::uint32_t low = ranks[first];
    if (low == NO_RANK)
      break;
    // Two pairs that merge in this round may be adjacent, as in "abab". After the first merge,
    // its result is next to the left symbol of the second pair. These two may rank lower.
    // Merging one pair at a time would then merge these two first, so the round would not be
    // exact.
    bool is_lower = find(results[first], symbols[first]).rank < low;
    std::size_t kept = 0;
    std::size_t count = 0;
    for (std::size_t at = 0; at < size; ++kept) {
      const bool merges = ranks[at] == low;
      if (merges)
        merged_at[count++] = static_cast<std::uint32_t>(kept);
      symbols[kept] = merges ? results[at] : symbols[at];
      ranks[kept] = ranks[at];
      results[kept] = results[at];
      at += merges ? 2 : 1;
    }
    size = kept;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = merged_at[i];
      look_up(at);
      is_lower |= ranks[at] < low;
      if (at > 0) {
        look_up(at - 1);
        is_lower |= ranks[at - 1] < low;
      }
    }
    if (is_lower)
      return false;
  }
  symbols.resize(size);
  return true;
}

// The symbols as a doubly linked list, with a heap of the pairs that can merge. A merge makes
// the heap entries of its two symbols and of their neighbors obsolete; merge_all skips obsolete
// entries.
template <typename Symbol, typename Find> class Chain {
public:
  Chain(std::vector<Symbol> &symbols, Find find)
      : symbols_(symbols), find_(find), size_(static_cast<std::uint32_t>(symbols.size())),
        previous_(size_), next_(size_), merged_(size_, Result{NO_RANK, NO_ID}) {
    for (std::uint32_t at = 0; at < size_; ++at) {
      previous_[at] = at - 1; // wraps to NO_PLACE for the first
      next_[at] = at + 1;
      if (at + 1 < size_) {
        merged_[at] = find_(symbols_[at], symbols_[at + 1]);
        if (merged_[at].rank != NO_RANK)
          heap_.push_back(key(at));
      }
    }
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  void merge_all() {
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const std::uint64_t lowest = heap_.back();
      heap_.pop_back();
      const auto at = static_cast<std::uint32_t>(lowest);
      // An entry is obsolete if its symbol or the next one has merged since it was pushed. Then
      // the symbol has another key now, so skip the entry.
      if (key(at) == lowest)
        merge(at);
    }
  }

  // Writes the remaining symbols to the start of `symbols_`.
  void write_back() {
    std::size_t kept = 0;
    for (std::uint32_t at = 0; at < size_; at = next_[at])
      symbols_[kept++] = symbols_[at];
    symbols_.resize(kept);
  }

private:
  using Result = std::invoke_result_t<Find, Symbol, Symbol>;

  static constexpr std::uint32_t NO_PLACE = 0xFFFFFFFF;

  // Returns the heap key of a position. Keys compare by rank, then by position.
  std::uint64_t key(std::uint32_t at) const {
    return std::uint64_t{merged_[at].rank} << 32 | at;
  }

  // Merges the symbol at `at` with the next symbol.
  void merge(std::uint32_t at) {
    symbols_[at] = merged_[at].id;
    const std::uint32_t absorbed = next_[at];
    merged_[absorbed].rank = NO_RANK;
    next_[at] = next_[absorbed];
    if (next_[at] < size_)
      previous_[next_[at]] = at;
    look_up(at);
    if (previous_[at] != NO_PLACE)
      look_up(previous_[at]);
  }

  // Looks up the merge of the symbol at `at` with the next symbol, and pushes a heap entry.
  void look_up(std::uint32_t at) {
    merged_[at] =
        next_[at] < size_ ? find_(symbols_[at], symbols_[next_[at]]) : Result{NO_RANK, NO_ID};
    if (merged_[at].rank == NO_RANK)
      return;
    heap_.push_back(key(at));
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  std::vector<Symbol> &symbols_;
  Find find_;
  std::uint32_t size_;
  std::vector<std::uint32_t> previous_; // position of the previous symbol, or NO_PLACE
  std::vector<std::uint32_t> next_;     // position of the next symbol, or size_
  std::vector<Result> merged_;          // the merge of each symbol with the next one
  std::vector<std::uint64_t> heap_;     // results of key(), lowest first
};

// Merges fewer than 2^32 - 1 symbols. O(size * log(size)) time, about 40 bytes of memory per
// symbol.
template <typename Symbol, typename Find>
void merge_long(std::vector<Symbol> &symbols, Find find) {
  Chain<Symbol, Find> chain(symbols, find);
  chain.merge_all();
  chain.write_back();
}

} // namespace pretok
