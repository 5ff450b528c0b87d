#include "core/decode/stop_strings.hpp"

namespace pretok {

StopStrings::StopStrings(const std::vector<std::string_view> &strings)
    : strings_(strings.begin(), strings.end()), nodes_(1) {
  for (std::size_t index = 0; index < strings_.size(); ++index)
    add(index);
  link();
}

void StopStrings::add(std::size_t index) {
  std::uint32_t node = 0;
  for (const char character : strings_[index]) {
    const auto byte = static_cast<std::uint8_t>(character);
    std::uint32_t child = child_of(node, byte);
    if (child == 0) {
      child = static_cast<std::uint32_t>(nodes_.size());
      Node made;
      made.next = nodes_[node].child;
      made.size = nodes_[node].size + 1;
      made.string = index;
      made.byte = byte;
      nodes_.push_back(made);
      nodes_[node].child = child;
      if (node == 0)
        starts_[byte] = child;
    }
    node = child;
  }
  if (nodes_[node].ended == NONE)
    nodes_[node].ended = index;
}

// Sets `fail` and `ended` of all nodes, shorter prefixes first.
void StopStrings::link() {
  std::vector<std::uint32_t> queue;
  for (std::uint32_t child = nodes_[0].child; child != 0; child = nodes_[child].next)
    queue.push_back(child);
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const std::uint32_t node = queue[at];
    for (std::uint32_t child = nodes_[node].child; child != 0; child = nodes_[child].next) {
      nodes_[child].fail = step(nodes_[node].fail, nodes_[child].byte);
      if (nodes_[child].ended == NONE)
        nodes_[child].ended = nodes_[nodes_[child].fail].ended;
      queue.push_back(child);
    }
  }
}

std::uint32_t StopStrings::child_of(std::uint32_t node, std::uint8_t byte) const {
  if (node == 0)
    return starts_[byte];
  std::uint32_t child = nodes_[node].child;
  while (child != 0 && nodes_[child].byte != byte)
    child = nodes_[child].next;
  return child;
}

// Returns the longest suffix of the prefix `node` and `byte` that is a node.
std::uint32_t StopStrings::step(std::uint32_t node, std::uint8_t byte) const {
  for (;; node = nodes_[node].fail) {
    const std::uint32_t child = child_of(node, byte);
    if (child != 0 || node == 0)
      return child;
  }
}

std::size_t StopStrings::feed(std::string_view text, std::uint32_t &node,
                              std::string &to) const {
  std::size_t at = 0;
  while (at < text.size()) {
    if (node == 0) { // most text cannot begin a string
      const std::size_t start = at;
      while (at < text.size() && starts_[static_cast<std::uint8_t>(text[at])] == 0)
        ++at;
      to.append(text.substr(start, at - start));
      if (at == text.size())
        break;
    }
    const std::string_view before = held(node);
    node = step(node, static_cast<std::uint8_t>(text[at]));
    const Node &now = nodes_[node];
    const std::size_t released = before.size() + 1 - now.size;
    to.append(before.substr(0, released));
    if (released > before.size())
      to.push_back(text[at]);
    ++at;
    if (now.ended != NONE) {
      to.append(held(node).substr(0, now.size - strings_[now.ended].size()));
      return now.ended;
    }
  }
  return NONE;
}

std::string_view StopStrings::held(std::uint32_t node) const {
  return std::string_view(strings_.empty() ? std::string_view() : strings_[nodes_[node].string])
      .substr(0, nodes_[node].size);
}

} // namespace pretok
