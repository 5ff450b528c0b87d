#include "core/normalize/charsmap.hpp"

#include <algorithm>
#include <cstring>

namespace pretok {
namespace {

constexpr std::uint32_t VALUE = std::uint32_t{1} << 31;
constexpr std::uint32_t HAS_RULE = 1 << 8;
constexpr std::uint32_t LABEL = VALUE | 0xFF;

// Returns the distance from a unit to its children, to be combined with ^.
std::uint32_t children(std::uint32_t unit) { return unit >> 10 << ((unit & 1U << 9) >> 6); }

std::uint32_t read_word(const std::uint8_t *bytes) {
  return bytes[0] | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 |
         std::uint32_t{bytes[3]} << 24;
}

} // namespace

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
    if ((here & LABEL) != text[at])
      return;
    node ^= children(here);
    if ((here & HAS_RULE) == 0)
      continue;
    const std::size_t start = unit(node) & ~VALUE;
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
  if ((here & LABEL) != first)
    return false;
  node ^= children(here);
  bool may_match = (here & HAS_RULE) != 0;
  for (std::uint32_t second = 0; second < 0x80; ++second)
    may_match = may_match || (unit(node ^ second) & LABEL) == second;
  return may_match;
}

} // namespace pretok
