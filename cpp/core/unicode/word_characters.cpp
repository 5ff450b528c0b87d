#include "core/unicode/word_characters.hpp"

namespace pretok {
namespace {

struct WordRange {
  std::uint32_t first;
  std::uint32_t last;
};

#include "core/unicode/generated/word_characters.inc"

} // namespace

CodePointRanges word_ranges() {
  CodePointRanges ranges;
  for (const WordRange &range : WORDS)
    ranges.emplace_back(range.first, range.last);
  return ranges;
}

} // namespace pretok
