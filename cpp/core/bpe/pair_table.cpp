#include "core/bpe/pair_table.hpp"

#include <utility>

namespace pretok {

void PairTable::reset(std::size_t count) {
  std::size_t slots = 16;
  while (slots < 2 * count)
    slots *= 2;
  entries_.assign(slots, Entry{});
  mask_ = slots - 1;
  count_ = 0;
  filter_.assign((slots + 7) / 8, 0);
  filter_mask_ = filter_.size() - 1;
}

void PairTable::insert(std::uint32_t left, std::uint32_t right, Merged merged) {
  if (2 * (count_ + 1) > entries_.size()) {
    const std::vector<Entry> old = std::move(entries_);
    reset(old.size());
    for (const Entry &entry : old)
      if (!is_free(entry))
        insert(static_cast<std::uint32_t>(entry.pair >> 32),
               static_cast<std::uint32_t>(entry.pair), entry.merged);
  }
  const std::uint64_t pair = std::uint64_t{left} << 32 | right;
  const std::uint64_t hash = hash_words(left, right, key_);
  filter_[hash >> 38 & filter_mask_] |= std::uint64_t{1} << (hash >> 32 & 63);
  std::size_t at = hash & mask_;
  while (entries_[at].pair != FREE && entries_[at].pair != pair)
    at = (at + 1) & mask_;
  count_ += entries_[at].pair == FREE;
  entries_[at] = {pair, merged};
}

} // namespace pretok
