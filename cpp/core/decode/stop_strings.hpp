// Finds strings that end a generation, in text that comes in parts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

// An Aho-Corasick automaton. Threads may share it. bpe/decoders/stop_strings.py has the same
// results in Python.
class StopStrings {
public:
  static constexpr std::size_t NONE = static_cast<std::size_t>(-1);
  // The maximum size of all strings together.
  static constexpr std::size_t MAX_BYTES = std::size_t{1} << 16;

  // The strings must not be empty.
  explicit StopStrings(const std::vector<std::string_view> &strings);

  // Appends the bytes of `text` that cannot begin a string. `node` is the state between calls;
  // it begins with 0. Returns the index of the string that ends first; of several that end at
  // the same byte, the longest. Then appends only the text before the string. Returns NONE if
  // no string ends.
  std::size_t feed(std::string_view text, std::uint32_t &node, std::string &to) const;
  // Returns the text that is held back.
  std::string_view held(std::uint32_t node) const;

private:
  // The prefix of a string.
  struct Node {
    std::uint32_t child = 0; // the first of the nodes with one byte more, or 0
    std::uint32_t next = 0;  // another child of the same parent, or 0
    std::uint32_t fail = 0;  // the longest proper suffix that is a node
    std::uint32_t size = 0;
    std::size_t string = 0;   // the index of a string with this prefix
    std::size_t ended = NONE; // the index of the longest string that ends here
    std::uint8_t byte = 0;    // the last byte
  };

  void add(std::size_t index);
  void link();
  std::uint32_t child_of(std::uint32_t node, std::uint8_t byte) const;
  std::uint32_t step(std::uint32_t node, std::uint8_t byte) const;

  std::vector<std::string> strings_;
  std::vector<Node> nodes_;
  std::array<std::uint32_t, 256> starts_{}; // the children of the root by byte, or 0
};

} // namespace pretok
