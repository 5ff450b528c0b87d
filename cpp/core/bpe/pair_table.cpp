#include "core/bpe/pair_table.hpp"

namespace pretok {

void PairTable::reset(std::size_t count) {
  entries_.reset(count);
  filter_.reset(count);
}

bool PairTable::insert(std::uint32_t left, std::uint32_t right, Merged merged) {
  const std::uint64_t pair = std::uint64_t{left} << 32 | right;
  const std::uint64_t hash = hash_words(left, right, key_);
  Entry &entry =
      entries_.find_or_add(hash, [pair](const Entry &other) { return other.pair == pair; });
  const bool is_new = entry.is_free();
  entry = {pair, merged};
  filter_.add(hash);
  return is_new;
}

} // namespace pretok
