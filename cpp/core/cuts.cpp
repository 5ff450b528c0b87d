#include "cuts.hpp"

#include <algorithm>

namespace pretok {
namespace {

Mask behind(const Rule &rule, std::uint8_t a) {
  return std::visit([a](const auto &kind) { return kind.behind(a); }, rule);
}
Mask joined(const Rule &rule, std::uint8_t a) {
  return std::visit([a](const auto &kind) { return kind.joined(a); }, rule);
}
Mask refuses(const Rule &rule, std::uint8_t a) {
  return std::visit([a](const auto &kind) { return kind.refuses(a); }, rule);
}
Mask sure(const Rule &rule) {
  return std::visit([](const auto &kind) { return kind.sure(); }, rule);
}

} // namespace

CutTable::CutTable(const std::vector<Rule> &rules,
                   const std::array<std::vector<int>, END + 1> &candidates,
                   const std::uint8_t *latin1) {
  const auto rule = [&rules](int index) -> const Rule & {
    return rules[static_cast<std::size_t>(index)];
  };
  // Classes that may stand in a gap: neighbours in a gap are of one pre-token.
  Mask unsure = 0;
  for (std::uint8_t a = 0; a < END; ++a)
    if (std::none_of(candidates[a].begin(), candidates[a].end(),
                     [&](int index) { return has(sure(rule(index)), a); }))
      unsure |= Mask{1} << a;
  pairs_.fill(CUT);
  for (std::uint8_t a = 0; a < END; ++a) {
    Mask together = has(unsure, a) ? unsure : 0;
    for (const Rule &each : rules)
      together |= behind(each, a);
    for (std::uint8_t b = 0; b < END; ++b) {
      if (!has(together, b))
        continue;
      const auto made_by =
          std::find_if(candidates[a].begin(), candidates[a].end(),
                       [&](int index) { return !has(refuses(rule(index), a), b); });
      pair(a, b) =
          made_by == candidates[a].end() ? ASK : label_of(rule(*made_by), *made_by, a, b);
    }
  }
  tie(rules);
  ascii_pairs_.reserve(0x80 * 0x80);
  for (std::size_t before = 0; before < 0x80; ++before)
    for (std::size_t after = 0; after < 0x80; ++after)
      ascii_pairs_.push_back((*this)(latin1[before], latin1[after]));
}

std::uint8_t CutTable::label_of(const Rule &rule, int index, std::uint8_t a, std::uint8_t b) {
  if (index >= LABEL || !has(joined(rule, a), b))
    return ASK;
  auto label = static_cast<std::uint8_t>(index + 1);
  const auto *run = std::get_if<Run>(&rule);
  if (run != nullptr && run->at_most > 1 && has(run->body, a) && has(run->body, b)) {
    label |= COUNTED;
    counted_ = std::min(counted_, run->at_most);
  }
  return label;
}

// Marks the pairs that rules of other labels, which may stand before them, allow as well.
void CutTable::tie(const std::vector<Rule> &rules) {
  for (std::uint8_t a = 0; a < END; ++a)
    for (std::uint8_t before = 0; before < END; ++before) {
      const std::uint8_t other = pair(before, a) & LABEL;
      if (other == 0)
        continue;
      const Mask allowed = behind(rules[other - std::size_t{1}], a);
      for (std::uint8_t b = 0; b < END; ++b)
        if ((pair(a, b) & LABEL) != 0 && (pair(a, b) & LABEL) != other && has(allowed, b))
          pair(a, b) |= TIED;
    }
}

} // namespace pretok
