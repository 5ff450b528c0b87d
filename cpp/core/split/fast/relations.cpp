#include "core/split/fast/relations.hpp"

#include "core/base/bits.hpp"

#include <algorithm>

namespace pretok {
namespace {

// A set of pairs (a, b): matrix[a] has the classes b of the pairs that begin with a.
using Matrix = std::array<Mask, CLASSES>;

struct Rectangle {
  Mask rows;
  Mask columns;
};

void sort_unique(std::vector<Mask> &masks) {
  std::sort(masks.begin(), masks.end());
  masks.erase(std::unique(masks.begin(), masks.end()), masks.end());
}

// Returns the largest rectangle within `matrix` that has all of `columns`.
Rectangle rectangle_of(const Matrix &matrix, Mask columns) {
  Mask rows = 0;
  Mask common = ~Mask{0};
  for (std::size_t a = 0; a < CLASSES; ++a)
    if ((columns & ~matrix[a]) == 0) {
      rows |= Mask{1} << a;
      common &= matrix[a];
    }
  return {rows, common};
}

// Returns rectangles that cover `matrix` and are disjoint from `outside`, by the greedy
// algorithm for set cover. The columns of each candidate are the intersection of two rows.
std::vector<Rectangle> cover(const Matrix &matrix, const Matrix &outside) {
  Matrix inside{};
  for (std::size_t a = 0; a < CLASSES; ++a)
    inside[a] = ~outside[a];
  std::vector<Mask> rows(inside.begin(), inside.end());
  sort_unique(rows);
  std::vector<Mask> intersections;
  for (const Mask row : rows)
    for (const Mask other : rows)
      if ((row & other) != 0)
        intersections.push_back(row & other);
  sort_unique(intersections);
  std::vector<Rectangle> candidates;
  for (const Mask columns : intersections)
    candidates.push_back(rectangle_of(inside, columns));
  std::vector<Rectangle> rectangles;
  Matrix left = matrix; // the pairs that no rectangle covers yet
  for (;;) {
    std::size_t best_gain = 0;
    Rectangle best{0, 0};
    for (const Rectangle &candidate : candidates) {
      std::size_t gain = 0;
      for (std::size_t a = 0; a < CLASSES; ++a)
        if (has(candidate.rows, static_cast<std::uint8_t>(a)))
          gain += count_ones(left[a] & candidate.columns);
      if (gain > best_gain) {
        best_gain = gain;
        best = candidate;
      }
    }
    if (best_gain == 0)
      return rectangles;
    rectangles.push_back(best);
    for (std::size_t a = 0; a < CLASSES; ++a)
      if (has(best.rows, static_cast<std::uint8_t>(a)))
        left[a] &= ~best.columns;
  }
}

// Returns whether the kernels ignore `relation` for a pair that has `relations`. If so, the
// relation may be either true or false for the pair ("don't care").
bool is_free(std::uint8_t relation, Pair relations) {
  constexpr Pair NOT_LABELED =
      pair_bit(BOUNDARY) | pair_bit(UNRESOLVED) | pair_bit(CONDITIONAL) | pair_bit(SPACE_PAIR);
  if (relation >= LABEL || relation == AMBIGUOUS || relation == JOINED)
    return (relations & NOT_LABELED) != 0;
  return relation == CONDITIONAL && (relations & pair_bit(BOUNDARY)) != 0;
}

} // namespace

void Relations::cover_by_rectangles(Mask used) {
  const Mask before = used | Mask{1} << END; // the classes that a may have
  unsigned free = 0;                         // number of unused bits of the last plane
  for (std::uint8_t relation = 0; relation < RELATIONS; ++relation) {
    Matrix holds{};
    Matrix fails{};
    for (std::uint8_t a = 0; a < CLASSES; ++a)
      for (std::uint8_t b = 0; b < END; ++b)
        if (has(before, a) && has(used, b) && !is_free(relation, (*this)(a, b)))
          (((*this)(a, b) & pair_bit(relation)) != 0 ? holds : fails)[a] |= Mask{1} << b;
    std::vector<Rectangle> rectangles = cover(holds, fails);
    std::vector<Rectangle> complement = cover(fails, holds);
    if (complement.size() < rectangles.size()) {
      inverted_.push_back(relation);
      rectangles = std::move(complement);
    }
    if (rectangles.empty())
      absent_.push_back(relation);
    bool more = false;
    for (const Rectangle &rectangle : rectangles) {
      if (free == 0) {
        planes_.emplace_back();
        free = 8;
      }
      const auto plane = static_cast<std::uint8_t>(planes_.size() - 1);
      const auto bit = static_cast<std::uint8_t>(1 << --free);
      for (std::uint8_t class_ = 0; class_ < CLASSES; ++class_) {
        if (has(rectangle.rows, class_))
          planes_.back().rows[class_] |= bit;
        if (has(rectangle.columns, class_))
          planes_.back().columns[class_] |= bit;
      }
      if (parts_.empty() || parts_.back().plane != plane || parts_.back().relation != relation)
        parts_.push_back({plane, relation, more, 0});
      parts_.back().bits |= bit * std::uint32_t{0x01010101};
      more = true;
    }
  }
}

} // namespace pretok
