// The class of every code point, for one program in one Unicode version: a two-stage table.
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

  // The classes of U+0000 to U+00FF, one after another.
  const std::uint8_t *latin1() const { return blocks_.data(); }

  // The classes that occur.
  Mask used() const { return used_; }

  // For look-ups of many code points at once: the class of a code point is
  // blocks()[index()[code point >> SHIFT] << SHIFT | its low bits]; 4 bytes may be read from
  // wherever an entry lies.
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
