#include "words.hpp"

namespace pretok {
namespace {

struct WordRange {
  std::uint32_t first;
  std::uint32_t last;
};

#include "generated/words.inc"

} // namespace

AddedTokens::Ranges word_ranges() {
  AddedTokens::Ranges ranges;
  for (const WordRange &range : WORDS)
    ranges.emplace_back(range.first, range.last);
  return ranges;
}

} // namespace pretok
