// Relations between the classes of neighbouring code points, in a form that SIMD looks up fast.
#pragma once

#include "core/unicode/classes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// What may be said of a pair of neighbours, a and b behind it; see neighbors.hpp.
enum Relation : std::uint8_t {
  BOUNDARY,
  UNRESOLVED,
  CONDITIONAL,
  SPACE_PAIR,
  LENGTH_LIMITED,
  AMBIGUOUS,
  TAIL_PAIR,
  NEWLINE_CLASS, // b is a line break, for rules that know such
  TAIL_CLASS,    // b may go on with a tail that is white space
  LABEL,         // the lowest of the label's four bits
};
inline constexpr std::size_t RELATIONS = LABEL + 4;

// A set of relations: those that hold for a pair.
using Pair = std::uint16_t;
inline constexpr Pair pair_bit(unsigned relation) { return static_cast<Pair>(1 << relation); }
inline constexpr Pair LABELS = 0xF << LABEL;

inline constexpr std::size_t CLASSES = END + 1;

// A relation is a union of rectangles: rows, classes a, times columns, classes b. With a bit
// for each rectangle, the bits of a's byte and of b's byte meet where the relation holds: two
// look-ups and an AND for all rectangles of a plane.
class Relations {
public:
  struct Plane {
    std::array<std::uint8_t, CLASSES> rows;
    std::array<std::uint8_t, CLASSES> columns;
  };
  // Where `bits` of a plane meet, the relation holds.
  struct Part {
    std::uint8_t plane;
    std::uint8_t relation;
    bool more;          // than an earlier part of the relation said
    std::uint32_t bits; // four times
  };

  // `used` has the classes that occur at all, END aside.
  void cover_by_rectangles(Mask used);

  Pair &operator()(std::size_t a, std::size_t b) { return pairs_[a * CLASSES + b]; }
  Pair operator()(std::size_t a, std::size_t b) const { return pairs_[a * CLASSES + b]; }
  const Pair *pairs() const { return pairs_.data(); }

  const std::vector<Plane> &planes() const { return planes_; }
  // In the order of planes.
  const std::vector<Part> &parts() const { return parts_; }
  // Relations that hold where their parts do not.
  const std::vector<std::uint8_t> &inverted() const { return inverted_; }
  // Relations without parts, which hold for no pair, if not inverted.
  const std::vector<std::uint8_t> &absent() const { return absent_; }

private:
  std::array<Pair, CLASSES * CLASSES> pairs_{};
  std::vector<Plane> planes_;
  std::vector<Part> parts_;
  std::vector<std::uint8_t> inverted_;
  std::vector<std::uint8_t> absent_;
};

} // namespace pretok
