// Merges symbols that are known only by their place in a text.
#pragma once

#include "core/bpe/merge.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// A symbol: half-open, in units of a text, such as its bytes.
struct UnitRange {
  std::size_t start;
  std::size_t end;
};

// Merges `count` units. rank_of(range) returns the rank of the merge of two symbols that
// together are `range`, or NO_RANK. Calls emit(range) for each remaining symbol.
template <typename RankOf, typename Emit>
void merge_ranges(std::size_t count, RankOf rank_of, Emit emit) {
  // The start of a symbol in the high half, its end in the low half.
  using Symbol = std::uint64_t;
  struct Result {
    std::uint32_t rank;
    Symbol id;
  };
  constexpr Symbol LOW = 0xFFFFFFFF;
  const auto range_of = [](Symbol symbol) {
    return UnitRange{static_cast<std::size_t>(symbol >> 32),
                     static_cast<std::size_t>(symbol & LOW)};
  };
  const auto find = [&](Symbol left, Symbol right) {
    const Symbol both = (left & ~LOW) | (right & LOW);
    return Result{rank_of(range_of(both)), both};
  };
  std::vector<Symbol> symbols(count);
  for (std::size_t i = 0; i < count; ++i)
    symbols[i] = Symbol{i} << 32 | (i + 1);
  if (count > MAX_SCANNED)
    merge_long(symbols, find);
  else if (count != 0)
    symbols.resize(merge_short(symbols.data(), count, find));
  for (const Symbol symbol : symbols)
    emit(range_of(symbol));
}

} // namespace pretok
