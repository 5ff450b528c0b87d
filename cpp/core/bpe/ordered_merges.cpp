#include "core/bpe/ordered_merges.hpp"

#include <algorithm>
#include <utility>

namespace pretok {
namespace {

// Returns the binary logarithm of the number of buckets for `count` entries. A cuckoo table
// with two slots per bucket can be nearly full, but if more than seven eighths of the slots are
// used, an insertion takes long.
unsigned bits_for(std::size_t count) {
  unsigned bits = 4;
  while ((std::size_t{2} << bits) / 8 * 7 < count)
    ++bits;
  return bits;
}

} // namespace

void OrderedMerges::reset(const std::array<std::uint32_t, 256> &byte_ids, std::size_t count) {
  ids_.assign(byte_ids.begin(), byte_ids.end());
  ids_.reserve(BYTES + count);
  ids_are_symbols_ = true;
  // Clears only the used entries of byte_pairs_. A vocabulary may be reset several times, and
  // clearing all 65,536 entries each time would be slow.
  if (byte_pairs_.empty())
    byte_pairs_.assign(1 << 16, 0);
  for (const auto &[left, right] : parts_)
    if (left < BYTES && right < BYTES)
      byte_pairs_[std::size_t{left} << 8 | right] = 0;
  parts_.clear();
  parts_.reserve(count);
  of_bytes_ = {NO_MERGE};
  key_ = hash_key();
  make_room(bits_for(count)); // cannot fail: there is nothing to insert yet
}

std::uint32_t OrderedMerges::add(std::uint32_t left, std::uint32_t right, std::uint32_t id) {
  const std::uint32_t symbol = size();
  const bool of_bytes = left < BYTES && right < BYTES;
  if (symbol >= MAX_SYMBOLS || (of_bytes && of_bytes_.size() > 0xFFFF))
    return NO_MERGE;
  ids_.push_back(id);
  ids_are_symbols_ = ids_are_symbols_ && id == symbol;
  parts_.push_back({left, right});
  if (of_bytes) {
    byte_pairs_[std::size_t{left} << 8 | right] = static_cast<std::uint16_t>(of_bytes_.size());
    of_bytes_.push_back(symbol);
  }
  return insert(key_of(left, right) | symbol) || make_room(64 - shift_) ? symbol : NO_MERGE;
}

void OrderedMerges::remove_from(std::uint32_t end) {
  while (size() > end) {
    const auto [left, right] = parts_.back();
    const std::uint64_t entry = key_of(left, right) | (size() - 1);
    const std::uint64_t hash = hash_of(entry);
    for (const std::size_t bucket : {index_a(hash), index_b(hash)})
      for (const std::size_t at : {bucket, bucket + 1})
        if (entries_[at] == entry)
          entries_[at] = FREE;
    if (left < BYTES && right < BYTES) { // the last symbol of of_bytes_
      byte_pairs_[std::size_t{left} << 8 | right] = 0;
      of_bytes_.pop_back();
    }
    ids_.pop_back();
    parts_.pop_back();
  }
}

// Rebuilds the table with 2^bits buckets. If an insertion fails, tries other hash keys, then
// larger tables, up to 2^GROWTH times the size that the merges need. New keys are tried first:
// pairs that collide under one key rarely collide under another, unless the table is too full.
// Returns false if every attempt fails.
bool OrderedMerges::make_room(unsigned bits) {
  constexpr unsigned GROWTH = 2;
  constexpr int KEYS = 3;
  const unsigned last = std::max(bits, bits_for(parts_.size()) + GROWTH);
  for (; bits <= last; ++bits) {
    entries_.assign(std::size_t{2} << bits, FREE);
    shift_ = 64 - bits;
    mask_ = (std::uint64_t{1} << bits) - 1;
    for (int tries = 0; tries < KEYS; ++tries) {
      if (fill())
        return true;
      std::fill(entries_.begin(), entries_.end(), FREE);
      key_ = key_.next();
    }
  }
  return false;
}

// Inserts all merges into the empty table. Returns false if an insertion fails.
bool OrderedMerges::fill() {
  for (std::uint32_t symbol = BYTES; symbol < size(); ++symbol) {
    const Parts of = parts(symbol);
    if (!insert(key_of(of.left, of.right) | symbol))
      return false;
  }
  return true;
}

// Inserts an entry into one of its two buckets. If both are full, evicts a random slot and
// moves the evicted entry to its other bucket, and so on. Returns false after 500 moves. The
// table then lacks the last evicted entry, so the caller must rebuild it (make_room).
bool OrderedMerges::insert(std::uint64_t entry) {
  std::uint64_t turn = entry; // state of a pseudo-random number generator
  for (int moves = 0; moves < 500; ++moves) {
    const std::uint64_t hash = hash_of(entry);
    const std::size_t a = index_a(hash);
    const std::size_t b = index_b(hash);
    // Branchless: it is unpredictable which slot is free.
    const bool is_first = entries_[a] == FREE;
    const bool is_in_a = is_first | (entries_[a + 1] == FREE);
    const bool is_third = entries_[b] == FREE;
    if (is_in_a | is_third | (entries_[b + 1] == FREE)) {
      const std::size_t bucket = is_in_a ? a : b;
      entries_[bucket + ((is_in_a ? is_first : is_third) ? 0 : 1)] = entry;
      return true;
    }
    turn = turn * 6364136223846793005 + 1442695040888963407;
    const std::size_t bucket = (turn >> 63) != 0 ? a : b;
    std::swap(entries_[bucket + (turn >> 62 & 1)], entry);
  }
  return false;
}

} // namespace pretok
