// Which neighbours the rules part, and which they join: the fast path of splitting.
//
// For two code points of classes a and b side by side, the rules leave three possibilities.
// CUT: no rule has a pre-token with b behind a, so there is always a boundary between them.
// A rule's label: if all neighbours between two cuts have it, they are one pre-token, that
// rule's, or, with COUNTED, as many as its at_most makes of them. Where another label follows
// there is a cut as well, but with TIED it depends. ASK: anything else; the machine then splits
// what lies between the two cuts. Most text is made of cuts and single labels, and those need
// neither rules nor branches.
//
// Why it is right. A pair is CUT if no rule's `behind` mask allows it: then no pre-token can
// hold it. It has the label of rule r if r is the first of the rules that can begin with a that
// does not refuse b behind it, and r's `joined` mask has b for a. So r is the rule that makes
// the pre-token behind a cut, if the first pair has its label; it takes all the pairs that
// follow with its label, for what joins begins with a class that can begin r, and such a class
// within a match of r is of its body; and it takes no more, for a cut follows, or a pair that
// it does not allow: one that some other label's rule allows is TIED.
#pragma once

#include "classes.hpp"
#include "rules.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// The top bits, where SIMD gathers them cheaply; the lowest four are the label, or 0.
inline constexpr std::uint8_t CUT = 0x80;
inline constexpr std::uint8_t ASK = 0x40;
inline constexpr std::uint8_t COUNTED = 0x20;
inline constexpr std::uint8_t TIED = 0x10;
inline constexpr std::uint8_t LABEL = 0x0F;

class CutTable {
public:
  // `candidates` has for each class the rules that can begin with it, in order; `latin1` has
  // the classes of U+0000 to U+00FF.
  CutTable(const std::vector<Rule> &rules,
           const std::array<std::vector<int>, END + 1> &candidates, const std::uint8_t *latin1);

  // CUT, ASK, or a label with what goes with it, for `after` behind `before`. Behind END, where
  // a text begins, it is CUT.
  std::uint8_t operator()(std::uint8_t before, std::uint8_t after) const {
    return pairs_[before * std::size_t{END + 1} + after];
  }
  // The same for two ASCII characters.
  std::uint8_t ascii(std::uint32_t before, std::uint32_t after) const {
    return ascii_pairs_[before << 7 | after];
  }
  // How many code points are one pre-token at least, whatever counts them.
  std::uint32_t counted() const { return counted_; }

private:
  std::uint8_t label_of(const Rule &rule, int index, std::uint8_t a, std::uint8_t b);
  void tie(const std::vector<Rule> &rules);
  std::uint8_t &pair(std::uint8_t a, std::uint8_t b) {
    return pairs_[a * std::size_t{END + 1} + b];
  }

  std::uint32_t counted_ = static_cast<std::uint32_t>(-1);
  std::array<std::uint8_t, (END + 1) * (END + 1)> pairs_{};
  std::vector<std::uint8_t> ascii_pairs_;
};

} // namespace pretok
