// Relations between the classes of two neighbors, in a form for fast look-ups with SIMD.
#pragma once

#include "core/unicode/classes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Relations of a pair: two adjacent code points, of classes a and b. neighbors.hpp explains the
// relations.
enum Relation : std::uint8_t {
  BOUNDARY,
  UNRESOLVED,
  CONDITIONAL,
  SPACE_PAIR,
  LENGTH_LIMITED,
  AMBIGUOUS,
  JOINED,
  TAIL_PAIR,
  PIECE_END,
  NEWLINE_CLASS, // b is a line break of LAST_NEWLINE
  TAIL_CLASS,    // b is white space that a tail takes
  LABEL,         // lowest bit of the label, which has four bits
};
inline constexpr std::size_t RELATIONS = LABEL + 4;

// The set of relations of a pair.
using Pair = std::uint16_t;
inline constexpr Pair pair_bit(unsigned relation) { return static_cast<Pair>(1 << relation); }
inline constexpr Pair LABELS = 0xF << LABEL;

inline constexpr std::size_t CLASSES = END + 1;

// A relation is a union of rectangles: some classes a (rows) times some classes b (columns). A
// plane holds eight rectangles, one for each bit. The byte rows[a] has the bits of the
// rectangles with row a; the byte columns[b] has the bits of the rectangles with column b. So
// rows[a] & columns[b] has the bits of the rectangles that hold the pair. An example with the
// classes L (letter), D (digit), S (space) and P (other), and three rectangles of one plane:
//
//   bit 0: {S} x {L}               rows     L 100   D 010   S 001   P 000
//   bit 1: {D} x {L, P}            columns  L 011   D 100   S 000   P 110
//   bit 2: {L} x {D, P}
//
//   The pair (D, P): rows[D] & columns[P] = 010 & 110 = 010. The pair is in rectangle 1 only.
class Relations {
public:
  struct Plane {
    std::array<std::uint8_t, CLASSES> rows;
    std::array<std::uint8_t, CLASSES> columns;
  };
  // The rectangles of one relation in one plane. The relation holds for (a, b) if, in any of
  // its parts, rows[a] & columns[b] has any of `bits`.
  struct Part {
    std::uint8_t plane;
    std::uint8_t relation;
    bool more;          // whether the part adds to an earlier part of the same relation
    std::uint32_t bits; // the same byte in all four bytes of the word
  };

  // Computes the planes and parts from the pairs. Only the classes in `used` occur in texts.
  void cover_by_rectangles(Mask used);

  Pair &operator()(std::size_t a, std::size_t b) { return pairs_[a * CLASSES + b]; }
  Pair operator()(std::size_t a, std::size_t b) const { return pairs_[a * CLASSES + b]; }
  const Pair *pairs() const { return pairs_.data(); }

  const std::vector<Plane> &planes() const { return planes_; }
  // Returns the parts in the order of their planes.
  const std::vector<Part> &parts() const { return parts_; }
  // Returns the relations whose parts describe the pairs for which the relation does not hold,
  // because these pairs need fewer rectangles.
  const std::vector<std::uint8_t> &inverted() const { return inverted_; }
  // Returns the relations without parts. Such a relation holds for no pair, or for all pairs if
  // it is in inverted().
  const std::vector<std::uint8_t> &absent() const { return absent_; }

private:
  std::array<Pair, CLASSES * CLASSES> pairs_{};
  std::vector<Plane> planes_;
  std::vector<Part> parts_;
  std::vector<std::uint8_t> inverted_;
  std::vector<std::uint8_t> absent_;
};

} // namespace pretok
