#include "core/normalize/charsmap.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pretok {
namespace {

constexpr std::uint32_t VALUE_BIT = std::uint32_t{1} << 31;
constexpr std::uint32_t HAS_RULE_BIT = 1 << 8;
constexpr std::uint32_t LABEL_BITS = VALUE_BIT | 0xFF;

// Returns the distance from a unit to its children, to be combined with ^.
std::uint32_t children(std::uint32_t unit) { return unit >> 10 << ((unit & 1U << 9) >> 6); }

std::uint32_t read_word(const std::uint8_t *bytes) {
  return bytes[0] | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 |
         std::uint32_t{bytes[3]} << 24;
}

// Returns how many bytes a character lacks after the byte `label`; -1 if it is not UTF-8.
// Before `label`, the character lacks `lacks` bytes; 0 means that `label` begins a character.
int lacking(int lacks, std::uint32_t label) {
  if (lacks != 0)
    return (label & 0xC0) == 0x80 ? lacks - 1 : -1;
  if (label < 0x80)
    return 0;
  if (label < 0xC2 || label >= 0xF5)
    return -1;
  return label < 0xE0 ? 1 : label < 0xF0 ? 2 : 3;
}

} // namespace

// Visits the trie level by level, as `_check` does. A node is the base of its children, and the
// number of bytes that the current character still lacks.
const char *Charsmap::find_problem() {
  const std::size_t count = units_.size();
  // The child for byte b of a node is at base ^ b, and has the label b. So a unit can only be a
  // child of the node whose base is its index ^ its label. The units in order of this base:
  // those of base b are sorted[first[b]..first[b + 1]).
  std::vector<std::uint32_t> first(count + 257);
  std::vector<std::uint32_t> sorted(count);
  const auto base_of = [&](std::size_t at) { return at ^ (units_[at] & 0xFF); };
  for (std::size_t at = 0; at < count; ++at)
    if ((units_[at] & VALUE_BIT) == 0)
      ++first[base_of(at) + 1];
  for (std::size_t at = 1; at < first.size(); ++at)
    first[at] += first[at - 1];
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (std::size_t at = 0; at < count; ++at)
    if ((units_[at] & VALUE_BIT) == 0)
      sorted[next[base_of(at)]++] = static_cast<std::uint32_t>(at);
  // The size of the replacement from each offset on, in bytes, if a space has three bytes.
  std::vector<std::uint32_t> sizes(replacements_.size() + 1);
  for (std::size_t at = replacements_.size(); at-- > 0;) {
    const std::uint8_t byte = replacements_[at];
    sizes[at] = byte == 0 ? 0 : sizes[at + 1] + (byte == ' ' ? 3 : 1);
  }
  const auto is_start = [this](std::size_t at) {
    return at < replacements_.size() && (at == 0 || replacements_[at - 1] == 0);
  };
  using Node = std::pair<std::uint32_t, int>;
  std::vector<Node> nodes{{children(count == 0 ? 0 : units_[0]), 0}};
  std::vector<Node> below;
  for (std::size_t level = 0; level < MAX_RULE_BYTES; ++level) {
    const auto is_outside = [count](const Node &node) { return node.first >= count; };
    if (std::any_of(nodes.begin(), nodes.end(), is_outside))
      return "points outside of itself";
    below.clear();
    bool is_utf8 = true;
    bool ends_well = true;
    bool are_known = true;
    std::size_t growth = 1;
    for (const auto &[base, lacks] : nodes)
      for (std::uint32_t i = first[base]; i < first[base + 1]; ++i) {
        const std::uint32_t at = sorted[i];
        const int now = lacking(lacks, units_[at] & 0xFF);
        is_utf8 &= now >= 0;
        below.emplace_back(at ^ children(units_[at]), now);
        if ((units_[at] & HAS_RULE_BIT) == 0 || is_outside(below.back()))
          continue;
        const std::uint32_t value = units_[below.back().first];
        ends_well &= now == 0 && value >= VALUE_BIT;
        const std::size_t start = value & ~VALUE_BIT;
        are_known &= is_start(start);
        if (is_start(start))
          growth = std::max(growth, (sizes[start] + level) / (level + 1));
      }
    if (!is_utf8)
      return "has a rule that is not UTF-8";
    if (std::any_of(below.begin(), below.end(), is_outside))
      return "points outside of itself";
    if (!ends_well)
      return "has a rule that ends within a character or has no replacement";
    if (!are_known)
      return "refers to a replacement that does not exist";
    if (growth > MAX_RULE_GROWTH)
      return "has a rule that makes more than 1024 bytes of one";
    max_growth_ = std::max(max_growth_, growth);
    if (below.empty())
      return nullptr;
    std::sort(below.begin(), below.end());
    below.erase(std::unique(below.begin(), below.end()), below.end());
    nodes.swap(below);
  }
  return "has rules of more than 256 bytes";
}

Charsmap::Charsmap(const std::uint8_t *blob, std::size_t size) {
  if (size < 4)
    return;
  const std::size_t trie_size = std::min<std::size_t>(read_word(blob), size - 4);
  units_.reserve(trie_size / 4);
  for (std::size_t at = 0; at + 4 <= trie_size; at += 4)
    units_.push_back(read_word(blob + 4 + at));
  replacements_.assign(blob + 4 + trie_size, blob + size);
}

template <typename Visit>
void Charsmap::for_rules(const std::uint8_t *text, std::size_t size, Visit visit) const {
  if (units_.empty())
    return;
  std::size_t node = children(units_[0]);
  const std::size_t limit = std::min(size, MAX_RULE_BYTES);
  for (std::size_t at = 0; at < limit; ++at) {
    node ^= text[at];
    const std::uint32_t here = unit(node);
    if ((here & LABEL_BITS) != text[at])
      return;
    node ^= children(here);
    if ((here & HAS_RULE_BIT) == 0)
      continue;
    const std::size_t start = unit(node) & ~VALUE_BIT;
    if (start >= replacements_.size())
      return;
    const std::uint8_t *replacement = replacements_.data() + start;
    const std::size_t left = replacements_.size() - start;
    const void *end = std::memchr(replacement, 0, left);
    const std::size_t length =
        end == nullptr
            ? left
            : static_cast<std::size_t>(static_cast<const std::uint8_t *>(end) - replacement);
    if (!visit(Rule{at + 1, replacement, length}))
      return;
  }
}

Charsmap::Rule Charsmap::longest(const std::uint8_t *text, std::size_t size) const {
  Rule last{};
  for_rules(text, size, [&](const Rule &rule) {
    last = rule;
    return true;
  });
  return last;
}

Charsmap::Rule Charsmap::shortest(const std::uint8_t *text, std::size_t size) const {
  Rule first{};
  for_rules(text, size, [&](const Rule &rule) {
    first = rule;
    return false;
  });
  return first;
}

bool Charsmap::may_match_in_ascii(std::uint8_t first) const {
  if (units_.empty())
    return false;
  std::size_t node = children(units_[0]) ^ first;
  const std::uint32_t here = unit(node);
  if ((here & LABEL_BITS) != first)
    return false;
  node ^= children(here);
  bool may_match = (here & HAS_RULE_BIT) != 0;
  for (std::uint32_t second = 0; second < 0x80; ++second)
    may_match = may_match || (unit(node ^ second) & LABEL_BITS) == second;
  return may_match;
}

} // namespace pretok
