#include "core/unicode/class_table.hpp"

#include <algorithm>
#include <array>

namespace pretok {

ClassTable::ClassTable(const Alphabet &alphabet, UnicodeTable table) {
  std::array<std::uint8_t, BLOCK> block;
  // For each class, the number of the stored block that has only this class; 0 if there is none
  // yet.
  std::array<std::uint16_t, END> uniform{};
  std::size_t run = 0;   // current run in `table`
  std::size_t range = 0; // current range in `alphabet`
  index_.reserve(CODE_POINTS >> SHIFT);

  const auto run_end = [&] {
    return run + 1 < table.size ? table.runs[run + 1] >> 8 : CODE_POINTS;
  };
  const auto range_end = [&] {
    return range + 1 < alphabet.size() ? alphabet[range + 1].start : CODE_POINTS;
  };
  for (std::uint32_t start = 0; start < CODE_POINTS;) {
    // The end of the last run that starts in the block. A run has one class, and may end after
    // the block.
    std::uint32_t end = start;
    while (end < start + BLOCK) {
      const std::uint32_t at = end;
      while (run_end() <= at)
        ++run;
      while (range_end() <= at)
        ++range;
      end = std::min(run_end(), range_end());
      std::fill(block.begin() + (at - start),
                block.begin() + (std::min(end, start + BLOCK) - start),
                alphabet[range].class_map[table.runs[run] & 0xFF]);
    }
    // The first two blocks are stored at the start of blocks_ even if they are uniform, for
    // latin1().
    const bool is_uniform =
        start >= 2 * BLOCK && std::all_of(block.begin(), block.end(), [&](std::uint8_t class_) {
          return class_ == block[0];
        });
    std::uint16_t number = is_uniform ? uniform[block[0]] : std::uint16_t{0};
    if (number == 0) {
      number = static_cast<std::uint16_t>(blocks_.size() >> SHIFT);
      blocks_.insert(blocks_.end(), block.begin(), block.end());
      if (is_uniform)
        uniform[block[0]] = number;
    }
    // If the run of one class fills later blocks too, these blocks get the same number.
    const std::uint32_t count = is_uniform ? (end - start) / BLOCK : 1;
    index_.insert(index_.end(), count, number);
    start += count * BLOCK;
  }
  for (const std::uint8_t class_ : blocks_)
    used_ |= Mask{1} << class_;
  // Padding for gathers, which read 4 bytes at each entry.
  index_.resize(index_.size() + 1);
  blocks_.resize(blocks_.size() + 3);
}

} // namespace pretok
