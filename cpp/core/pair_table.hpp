// Which two tokens merge, how early, and into what.
#pragma once

#include "token_table.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

inline constexpr std::uint32_t NO_RANK = 0xFFFFFFFF;

struct Merged {
  std::uint32_t rank; // NO_RANK: the two do not merge
  std::uint32_t id;   // of the result
};

class PairTable {
public:
  struct Entry {
    std::uint64_t pair = FREE;
    Merged merged{NO_RANK, NO_ID};
  };

  // Makes room for `count` pairs; what was in the table is gone. More are let in, but slower.
  void reset(std::size_t count);

  // A pair that is there already gets the new rank and result.
  void insert(std::uint32_t left, std::uint32_t right, Merged merged);

  Merged find(std::uint32_t left, std::uint32_t right) const {
    const std::uint64_t pair = std::uint64_t{left} << 32 | right;
    for (std::size_t at = place(pair);; at = (at + 1) & mask_)
      if (entries_[at].pair == pair || entries_[at].pair == FREE)
        return entries_[at].merged;
  }

  const std::vector<Entry> &entries() const { return entries_; }
  static bool is_free(const Entry &entry) { return entry.pair == FREE; }

private:
  static constexpr std::uint64_t FREE = ~std::uint64_t{0};

  std::size_t place(std::uint64_t pair) const {
    const std::uint64_t mixed = (pair ^ pair >> 29) * 0x9E3779B97F4A7C15;
    return (mixed >> 32) & mask_;
  }

  std::vector<Entry> entries_;
  std::size_t mask_ = 0;
  std::size_t count_ = 0;
};

} // namespace pretok
