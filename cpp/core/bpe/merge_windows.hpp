// Merges pre-tokens of any length, in windows of bounded size.
//
// The comments below speak of bytes. An engine may also have other units in their place: the
// first symbols of a pre-token that starts as characters (character_merge.hpp).
//
// `Engine` adapts a vocabulary: symbol(byte), find(left, right) as in merge.hpp, id(symbol),
// width(symbol) in bytes, and is_valid_pair(left, right, at), where byte `at` of the pre-token
// is the first byte of `right`. HAS_EQUAL_PAIRS says that is_valid_pair ignores `at`.
// HAS_EQUAL_RANKS says that merges of different results may have equal ranks.
//
// Definition: two symbols are a valid pair if their bytes, side by side, merge into exactly
// these two symbols.
//
// Claim: merging the bytes of the symbols t1 t2 … tn results in t1 t2 … tn if and only if every
// two neighbors are a valid pair.
//
// If: suppose that some merge crosses a boundary between neighbors, and take the first such
// merge, between ti and ti+1. No earlier merge crossed a boundary. So the bytes of ti and ti+1
// had merged exactly as they do by themselves, and this merge also happens if ti and ti+1 are
// merged alone. Then ti and ti+1 are not a valid pair, a contradiction. So no merge crosses a
// boundary, and the bytes of each ti merge into ti.
//
// Only if: the result is t1 t2 … tn, so no merge crossed a boundary, and no symbol influenced
// the merges within another symbol. The bytes of ti and ti+1 alone therefore merge in the same
// way.
//
// merge_windows relies on the claim. It merges a window of bytes, and keeps all symbols except
// the symbols near the end of the window, which could merge with later bytes. All neighbors
// within a window are valid pairs. One pair remains to check: the last symbol kept from the
// previous window (a), and the first symbol of the current window (b). If the pair is not
// valid, merge_windows drops a and some symbols before a, and merges a window of twice the size
// from the first dropped symbol on.
//
//   bytes      ...................................................
//   window 1   [ t1 t2 t3 ... a | dropped ]
//   window 2                    [ b ... | dropped ]      check is_valid_pair(a, b)
#pragma once

#include "core/base/ids.hpp"
#include "core/base/sizes.hpp"
#include "core/bpe/merge.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

namespace pretok {

// Sets `symbols` to the result of merging the bytes of one window.
template <typename Engine, typename Unit, typename Symbol>
void merge_window(const Engine &engine, const Unit *bytes, std::size_t size,
                  std::vector<Symbol> &symbols) {
  if (size >= 0xFFFFFFFF)
    throw std::length_error("expected a pre-token that merges in windows below 4 GiB");
  const auto begin = [&] {
    symbols.resize(size);
    for (std::size_t i = 0; i < size; ++i)
      symbols[i] = engine.symbol(bytes[i]);
  };
  const auto find = [&engine](Symbol left, Symbol right) { return engine.find(left, right); };
  begin();
  if (size <= MAX_SCANNED) {
    symbols.resize(merge_short(symbols.data(), size, find));
    return;
  }
  if (!Engine::HAS_EQUAL_RANKS && size <= MAX_IN_ROUNDS) {
    if (merge_in_rounds(symbols, find))
      return;
    begin();
  }
  merge_long(symbols, find);
}

// Tests is_valid_pair by merging the bytes of both symbols. `bytes` begins with those of
// `right`, after those of `left`.
template <typename Engine, typename Unit, typename Symbol>
bool merges_apart(const Engine &engine, const Unit *bytes, Symbol left, Symbol right) {
  std::vector<Symbol> symbols;
  merge_window(engine, bytes - engine.width(left), engine.width(left) + engine.width(right),
               symbols);
  return symbols.size() == 2 && symbols[0] == left && symbols[1] == right;
}

// Writes the ids of a pre-token to `to`, which has room for one id per byte. Returns the number
// of ids. Uses the memory of one window.
template <typename Engine, typename Unit, typename Symbol>
std::size_t merge_windows(const Engine &engine, const Unit *bytes, std::size_t size,
                          Symbol *to) {
  std::vector<Symbol> symbols;
  std::size_t done = 0;  // number of bytes merged
  std::size_t count = 0; // number of symbols written
  // A run of one character merges in a few rounds, so its first window may be larger. The run
  // may come after two other characters, such as "//" or "|-", and before two others.
  const bool is_run = size > MAX_SCANNED && size <= 4 * MAX_SCANNED &&
                      std::memcmp(bytes + 2, bytes + 3, (size - 5) * sizeof *bytes) == 0;
  std::size_t window = is_run ? size : MAX_SCANNED;
  // The farthest end of a window of which no symbol was kept. Until `done` passes this end,
  // windows never shrink: a smaller window could fail at the same place again.
  std::size_t settled = 0;
  // Start and size of the previous window. If the next window has the same bytes, as in a long
  // run of one character, `symbols` is reused.
  std::size_t last = 0;
  std::size_t last_size = 0;
  // The pair that was last found valid. If HAS_EQUAL_PAIRS, it is not checked again.
  std::pair<Symbol, Symbol> apart{NO_ID, NO_ID};
  while (done < size) {
    const std::size_t taken = std::min(window, size - done);
    if (taken != last_size ||
        std::memcmp(bytes + last, bytes + done, taken * sizeof *bytes) != 0)
      merge_window(engine, bytes + done, taken, symbols);
    last = done;
    last_size = taken;
    const bool at_end = taken == size - done;
    std::size_t kept = 0;
    std::size_t length = 0;
    std::size_t longest_kept = 0;
    while (kept < symbols.size()) {
      const std::size_t next = engine.width(symbols[kept]);
      if (!at_end && length + next > window / 4 * 3)
        break;
      longest_kept = std::max(longest_kept, next);
      length += next;
      ++kept;
    }
    if (kept != 0 && count != 0 &&
        (!Engine::HAS_EQUAL_PAIRS || apart != std::make_pair(to[count - 1], symbols[0]))) {
      apart = {to[count - 1], symbols[0]};
      if (!engine.is_valid_pair(apart.first, apart.second, done)) {
        apart = {NO_ID, NO_ID};
        kept = 0;
      }
    }
    if (kept == 0) {
      settled = std::max(settled, done + taken);
      for (const std::size_t back = done - std::min(done, window / 2); done > back;)
        done -= engine.width(to[--count]);
      window = saturating_multiply<std::size_t>(window, 2);
      continue;
    }
    std::copy(symbols.begin(), symbols.begin() + static_cast<std::ptrdiff_t>(kept), to + count);
    count += kept;
    done += length;
    if (done > settled)
      window = std::max(MAX_SCANNED, saturating_multiply<std::size_t>(longest_kept, 4));
  }
  for (std::size_t i = 0; i < count; ++i)
    to[i] = engine.id(to[i]);
  return count;
}

} // namespace pretok
