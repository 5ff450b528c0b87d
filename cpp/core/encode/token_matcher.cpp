#include "core/encode/token_matcher.hpp"

#include <stdexcept>

namespace pretok {

// Adds the nodes of a TokenMatcher in order of depth. The links of a node depend only on nodes
// of lower depth.
class TokenMatcher::Builder {
public:
  Builder(TokenMatcher &matcher, const std::vector<std::string_view> &patterns)
      : matcher_(matcher), patterns_(patterns) {}

  void build() {
    reserve();
    matcher_.bytes_.push_back(0);
    matcher_.ends_pattern_.push_back(false);
    matcher_.nodes_.push_back({0, 0, ROOT, NO_MATCHES, ROOT});
    ranges_.push_back({0, static_cast<std::uint32_t>(patterns_.size())});
    std::vector<Range> level;
    for (std::uint32_t node = ROOT, depth = 0; !ranges_.empty(); ++depth) {
      level.swap(ranges_);
      ranges_.clear();
      for (const Range range : level)
        add_children(node++, range, depth);
    }
    matcher_.nodes_.push_back({count(), 0, ROOT, NO_MATCHES, ROOT}); // the sentinel
  }

private:
  // The patterns below a node: the indices from `low` to `high`, of which `high` is excluded.
  struct Range {
    std::uint32_t low;
    std::uint32_t high;
  };

  std::uint32_t count() const { return static_cast<std::uint32_t>(matcher_.bytes_.size()); }

  // Counts the distinct prefixes of the patterns, and reserves memory for their nodes. `shared`
  // counts the bytes that a pattern shares with the pattern before it. The patterns are sorted,
  // so exactly these bytes give no new prefixes.
  void reserve() {
    std::size_t total = 0;
    std::size_t shared = 0;
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      const std::string_view pattern = patterns_[i];
      total += pattern.size();
      if (total >= MAX_BYTES)
        throw std::length_error("expected added tokens of less than 2 GiB in total");
      matcher_.sizes_.push_back(static_cast<std::uint32_t>(pattern.size()));
      matcher_.longest_ = std::max(matcher_.longest_, pattern.size());
      if (i == 0)
        continue;
      const std::string_view before = patterns_[i - 1].substr(0, pattern.size());
      shared += static_cast<std::size_t>(
          std::mismatch(before.begin(), before.end(), pattern.begin()).first - before.begin());
    }
    matcher_.nodes_.reserve(total - shared + 2);
    matcher_.bytes_.reserve(total - shared + 1);
    matcher_.ends_pattern_.reserve(total - shared + 1);
    matcher_.matches_.reserve(patterns_.size());
  }

  // Adds the children of a node of this depth. `range` has the patterns below the node.
  void add_children(std::uint32_t node, Range range, std::uint32_t depth) {
    matcher_.nodes_[node].first_child = count();
    while (range.low != range.high) {
      const auto byte = static_cast<std::uint8_t>(patterns_[range.low][depth]);
      const auto first = patterns_.begin() + range.low;
      const auto end = std::partition_point(
          first, patterns_.begin() + range.high, [&](const std::string_view pattern) {
            return static_cast<std::uint8_t>(pattern[depth]) == byte;
          });
      const auto high = static_cast<std::uint32_t>(end - patterns_.begin());
      add_child(node, byte, {range.low, high}, depth + 1);
      range.low = high;
    }
  }

  void add_child(std::uint32_t parent, std::uint8_t byte, Range range, std::uint32_t depth) {
    const std::uint32_t child = count();
    Node node{0, depth, ROOT, NO_MATCHES, ROOT};
    if (parent == ROOT)
      matcher_.roots_[byte] = child;
    else
      node.suffix = suffix(parent, byte);
    // A pattern that ends at this node sorts before all longer patterns of the range.
    const bool is_pattern = patterns_[range.low].size() == depth;
    matcher_.ends_pattern_.push_back(is_pattern || matcher_.ends_pattern_[node.suffix]);
    if (is_pattern) {
      node.last_match = add_match({range.low, 0, NO_MATCHES});
      ++range.low;
    } else if (parent != ROOT) {
      node.last_match = matcher_.nodes_[parent].last_match;
      node.link = link(parent, byte, node.last_match);
    }
    matcher_.bytes_.push_back(byte);
    matcher_.nodes_.push_back(node);
    ranges_.push_back(range);
  }

  // Returns the suffix link of the child of `parent` by `byte`.
  std::uint32_t suffix(std::uint32_t parent, std::uint8_t byte) const {
    std::uint32_t node = parent;
    do {
      node = matcher_.nodes_[node].suffix;
      if (const std::uint32_t child = matcher_.child(node, byte))
        return child;
    } while (node != ROOT);
    return ROOT;
  }

  // Returns the link of the child of `parent` by `byte`. Follows links from `parent` to a node
  // with a child by `byte`. Appends the matches of each node on the way to the list that ends
  // with `last`, and updates `last`.
  std::uint32_t link(std::uint32_t parent, std::uint8_t byte, std::uint32_t &last) {
    std::uint32_t node = parent;
    for (;;) {
      node = matcher_.nodes_[node].link;
      if (const std::uint32_t child = matcher_.child(node, byte))
        return child;
      if (node == ROOT)
        return ROOT;
      append(node, matcher_.nodes_[parent].depth - matcher_.nodes_[node].depth, last);
    }
  }

  // Appends the matches of `node` to the list that ends with `last`. The bytes of `node` begin
  // `offset` bytes after the first byte of the node that has the list.
  void append(std::uint32_t node, std::uint32_t offset, std::uint32_t &last) {
    for (const Match &match : matcher_.all_matches(matcher_.nodes_[node].last_match))
      last = add_match({match.pattern, match.first + offset, last});
  }

  std::uint32_t add_match(Match match) {
    matcher_.matches_.push_back(match);
    return static_cast<std::uint32_t>(matcher_.matches_.size() - 1);
  }

  TokenMatcher &matcher_;
  const std::vector<std::string_view> &patterns_;
  std::vector<Range> ranges_; // of the nodes whose children are not added yet
};

TokenMatcher::TokenMatcher(const std::vector<std::string_view> &patterns) {
  Builder(*this, patterns).build();
  add_starts(patterns);
}

// Finds the distinct first two bytes of the patterns. If these are more than MAX_STARTS, finds
// the distinct first bytes. If there are more than MAX_STARTS of these too, leaves starts_
// empty.
void TokenMatcher::add_starts(const std::vector<std::string_view> &patterns) {
  const auto repeated = [](std::uint8_t byte) {
    Repeated all;
    all.fill(byte);
    return all;
  };
  for (const bool use_second : {true, false}) {
    for (const std::string_view pattern : patterns) {
      const bool has_second = use_second && pattern.size() > 1;
      const auto first = static_cast<std::uint8_t>(pattern[0]);
      const auto second = static_cast<std::uint8_t>(has_second ? pattern[1] : 0);
      const std::uint8_t mask = has_second ? 0xFF : 0;
      // Equal starts are neighbors, since the patterns are sorted.
      if (!starts_.empty() && starts_.back().first[0] == first &&
          starts_.back().second[0] == second && starts_.back().mask[0] == mask)
        continue;
      if (starts_.size() == MAX_STARTS) {
        starts_.clear();
        break;
      }
      starts_.push_back({repeated(first), repeated(second), repeated(mask)});
    }
    if (!starts_.empty())
      break;
  }
  for (const Start &start : starts_)
    if (first_bytes_.empty() || first_bytes_.back() != start.first)
      first_bytes_.push_back(start.first);
}

std::vector<TokenMatcher::Match> TokenMatcher::all_matches(std::uint32_t last) const {
  std::vector<Match> all;
  for (; last != NO_MATCHES; last = matches_[last].previous) {
    count_step();
    all.push_back(matches_[last]);
  }
  std::reverse(all.begin(), all.end());
  return all;
}

ClearPlaces TokenMatcher::clear_places(const std::uint8_t *data, std::size_t from,
                                       std::size_t to) const {
  std::size_t clear = from;
  std::uint32_t node = ROOT;
  for (std::size_t at = from - std::min(from, longest_); at < to;) {
    if (node == ROOT) {
      at = next(data, at, to);
      if (at == to)
        break;
    }
    std::uint32_t below = child(node, data[at]);
    while (below == ROOT && node != ROOT) {
      node = nodes_[node].suffix;
      below = child(node, data[at]);
    }
    node = below;
    ++at;
    if (ends_pattern_[node])
      clear = std::max(clear, at);
  }
  // The bytes of `node` are the longest suffix of data[..to) that is a prefix of a pattern. So
  // a match that ends after `to` begins at position `to - begun` or later, and the last clear
  // position is the one before.
  const std::size_t begun = nodes_[node].depth;
  return {clear, to > begun ? to - begun - 1 : 0};
}

} // namespace pretok
