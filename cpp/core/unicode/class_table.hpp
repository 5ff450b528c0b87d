// The class of every code point, for one Alphabet in one Unicode version: a two-stage table.
#pragma once

#include "core/unicode/alphabet.hpp"
#include "core/unicode/classes.hpp"
#include "core/unicode/unicode.hpp"

#include <cstdint>
#include <vector>

namespace pretok {

class ClassTable {
public:
  ClassTable(const Alphabet &alphabet, UnicodeTable table);

  // `code_point` must be less than CODE_POINTS.
  std::uint8_t operator[](std::uint32_t code_point) const {
    return blocks_[std::size_t{index_[code_point >> SHIFT]} << SHIFT |
                   (code_point & (BLOCK - 1))];
  }

  // Returns an array of the classes of U+0000 to U+00FF.
  const std::uint8_t *latin1() const { return blocks_.data(); }

  // Returns the classes that at least one code point has.
  Mask used() const { return used_; }

  // Return the two stages, for look-ups with vectors. The class of a code point is
  // blocks()[index()[code_point >> SHIFT] << SHIFT | low SHIFT bits]. Both arrays are padded:
  // a gather may read 4 bytes at each entry.
  const std::uint16_t *index() const { return index_.data(); }
  const std::uint8_t *blocks() const { return blocks_.data(); }
  static constexpr unsigned SHIFT = 7;

private:
  static constexpr std::uint32_t BLOCK = 1 << SHIFT;

  std::vector<std::uint16_t> index_;
  std::vector<std::uint8_t> blocks_;
  Mask used_ = 0;
};

} // namespace pretok
