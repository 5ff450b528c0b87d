#include "core/base/open_table.hpp"

namespace pretok {

void BitFilter::reset(std::size_t count) {
  constexpr std::uint64_t BITS_PER_KEY = 16;
  unsigned bits = 6;
  while (std::uint64_t{1} << bits < BITS_PER_KEY * count)
    ++bits;
  words_ = std::vector<std::uint64_t>(std::size_t{1} << (bits - 6));
  shift_ = 64 - bits;
}

} // namespace pretok
