// A stretch of text as the fast path sees it: the class of each code point, in a row.
#pragma once

#include "classes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

struct Stretch {
  // Code points, at most; a multiple of 64, and fewer only where the text ends.
  static constexpr std::size_t MOST = 1024;
  // How much kernels may write behind that.
  static constexpr std::size_t SLACK = 64;

  std::size_t count = 0; // code points
  std::size_t units = 0; // of the text
  bool even = true;      // whether every code point takes one unit

  std::uint8_t *classes() { return classes_.data() + SLACK; }
  // Where each code point starts, in units from the start of the stretch, unless `even`.
  std::uint16_t *offsets() { return offsets_.data(); }
  std::size_t offset(std::size_t at) const { return even ? at : offsets_[at]; }
  std::size_t blocks() const { return (count + 63) / 64; }

  // Offsets so far: of `filled` code points that take one unit each.
  void uneven(std::size_t filled) {
    for (std::size_t i = 0; i < filled; ++i)
      offsets_[i] = static_cast<std::uint16_t>(i);
    even = false;
  }

  // Ends reading: `filled` code points, `read` units, of a text of which that is all or not.
  void finish(std::size_t filled, std::size_t read, bool all) {
    count = filled;
    units = read;
    if (filled > MOST || !all) {
      count = MOST;
      units = filled == MOST ? read : offset(MOST);
    }
    std::memset(classes() + filled, 0, SLACK);
  }

private:
  // classes()[-1] is the class before the stretch.
  alignas(64) std::array<std::uint8_t, SLACK + MOST + 2 * SLACK> classes_;
  alignas(64) std::array<std::uint16_t, MOST + SLACK> offsets_;
};

} // namespace pretok
