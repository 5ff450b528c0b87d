#include "class_table.hpp"

#include <algorithm>
#include <array>

namespace pretok {

ClassTable::ClassTable(const Alphabet &alphabet, UnicodeTable table) {
  std::array<std::uint8_t, BLOCK> block;
  // One shared block for each class that fills a whole block, as most do; 0: none yet.
  std::array<std::uint16_t, END> uniform{};
  std::size_t run = 0;
  std::size_t segment = 0;
  index_.reserve(CODE_POINTS >> SHIFT);
  for (std::uint32_t start = 0; start < CODE_POINTS; start += BLOCK) {
    for (std::uint32_t i = 0; i < BLOCK; ++i) {
      while (run + 1 < table.size && table.runs[run + 1] >> 8 <= start + i)
        ++run;
      while (segment + 1 < alphabet.size() && alphabet[segment + 1].first <= start + i)
        ++segment;
      block[i] = alphabet[segment].classes[table.runs[run] & 0xFF];
    }
    // The first two blocks are always stored, for latin1().
    const bool same = std::all_of(block.begin(), block.end(),
                                  [&](std::uint8_t class_) { return class_ == block[0]; });
    if (same && uniform[block[0]] != 0) {
      index_.push_back(uniform[block[0]]);
      continue;
    }
    const auto number = static_cast<std::uint16_t>(blocks_.size() >> SHIFT);
    if (same && start >= 2 * BLOCK)
      uniform[block[0]] = number;
    index_.push_back(number);
    blocks_.insert(blocks_.end(), block.begin(), block.end());
  }
  for (const std::uint8_t class_ : blocks_)
    used_ |= Mask{1} << class_;
  index_.resize(index_.size() + 1);
  blocks_.resize(blocks_.size() + 3);
}

} // namespace pretok
