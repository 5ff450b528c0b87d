// A set of pairs of ASCII characters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pretok {

class AsciiPairs {
public:
  static constexpr std::size_t ROW_BYTES = 16;

  // Both characters must be below 0x80.
  void add(std::uint32_t left, std::uint32_t right) {
    rows_[left * ROW_BYTES + right / 8] |= static_cast<std::uint8_t>(1U << right % 8);
  }
  bool has(std::uint32_t left, std::uint32_t right) const {
    return (rows_[left * ROW_BYTES + right / 8] >> right % 8 & 1) != 0;
  }

  // Returns 128 rows of 16 bytes. Bit `right` of row `left`, counted from the lowest bit of the
  // first byte, says whether the set has the pair (left, right).
  const std::uint8_t *rows() const { return rows_.data(); }

private:
  std::array<std::uint8_t, 128 * ROW_BYTES> rows_{};
};

} // namespace pretok
