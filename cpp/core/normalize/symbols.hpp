// The user-defined symbols of a SentencePiece model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pretok {

class Symbols {
public:
  Symbols() = default;
  explicit Symbols(std::vector<std::string> symbols);

  // Returns the size of the longest symbol that `text` begins with, in bytes, or 0. Takes
  // O(s log n) time for n symbols of at most s bytes.
  std::size_t longest(const std::uint8_t *text, std::size_t size) const;

  // Returns whether a symbol begins with `byte`.
  bool has_first(std::uint8_t byte) const { return has_first_[byte]; }

private:
  std::vector<std::string> sorted_;
  std::array<bool, 256> has_first_{};
};

} // namespace pretok
