#include "core/split/fast/boundaries.hpp"

#include "core/base/bits.hpp"

namespace pretok {
namespace {

constexpr std::uint64_t ONE = 1;

std::uint64_t first_bits(std::size_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (ONE << count) - 1;
}

// The sum, and in `carry` whether it went beyond 64 bits.
std::uint64_t add(std::uint64_t a, std::uint64_t b, std::uint64_t &carry) {
  const std::uint64_t sum = a + b;
  carry = sum < a;
  return sum;
}

} // namespace

void Boundaries::resolve(const Kernels &use, const RelationBits &relation_bits,
                         std::size_t count) {
  use.resolve_labels(relation_bits, (count + 63) / 64, label_bits_, carry_, *this);
  for (std::size_t block = 0, left = count; left != 0; ++block) {
    const std::size_t here = left < 64 ? left : 64;
    left -= here;
    const std::uint64_t pairs = relation_bits[LENGTH_LIMITED][block];
    if ((pairs | limited_pairs_) != 0) {
      const std::uint64_t limits = limit_lengths(pairs);
      (has_exact_limit_ ? all : unresolved)[block] |= limits;
      // Where counting starts is one further then.
      unresolved[block] |= changed[block] & pairs;
    }
    const std::uint64_t tails = relation_bits[TAIL_PAIR][block];
    if ((relation_bits[SPACE_PAIR][block] | tails | tail_) != 0)
      all[block] |= white_space(relation_bits, block, here, left, tails & ~changed[block],
                                unresolved[block]);
    newline_ = relation_bits[NEWLINE_CLASS][block] >> 63;
  }
  if (count % 64 != 0) {
    const std::uint64_t valid = first_bits(count % 64);
    certain[count / 64] &= valid;
    all[count / 64] &= valid;
    unresolved[count / 64] &= valid;
  }
}

std::uint64_t Boundaries::limit_lengths(std::uint64_t pairs) {
  // Which pairs are the last of counted_ in a row: the first in a run of those is one behind
  // which a boundary is due, and from there each counted_ further.
  std::uint64_t too_long = pairs;
  for (unsigned back = 1; back < length_limit_ && too_long != 0; ++back)
    too_long &= pairs << back | limited_pairs_ >> (64 - back);
  std::uint64_t limits =
      too_long & (~(too_long << 1 | too_long_ >> 63) | limits_ >> (64 - length_limit_));
  if (length_limit_ < 64)
    for (std::uint64_t more = limits; more != 0;) {
      more = more << length_limit_ & too_long & ~limits;
      limits |= more;
    }
  limited_pairs_ = pairs;
  too_long_ = too_long;
  limits_ = limits;
  return has_exact_limit_ ? limits : too_long;
}

std::uint64_t Boundaries::white_space(const RelationBits &relation_bits, std::size_t block,
                                      std::size_t here, std::size_t left, std::uint64_t starts,
                                      std::uint64_t &unresolved_bits) {
  const std::uint64_t spaces = relation_bits[SPACE_PAIR][block] & first_bits(here);
  const std::uint64_t newlines = relation_bits[NEWLINE_CLASS][block];
  const std::uint64_t next_spaces = left != 0 ? relation_bits[SPACE_PAIR][block + 1] : 0;
  // What the tail of the pre-token before takes: additions run from its start to its end.
  const std::uint64_t tails = spaces & relation_bits[TAIL_CLASS][block];
  const std::uint64_t taken_from = starts << 1 | tail_;
  std::uint64_t carry;
  const std::uint64_t past = add(tails, taken_from, carry);
  tail_ = carry | starts >> 63;
  const std::uint64_t taken = tails & ~past;
  std::uint64_t found = past & ~tails & spaces;

  // The last of a run, if it is no line break that LAST_NEWLINE takes. Whether the last of all
  // is the last of a run is not known, nor needed if the text ends there.
  const std::uint64_t last = ONE << (here - 1);
  const std::uint64_t blanks = spaces & ~newlines;
  const std::uint64_t beyond = left != 0 ? next_spaces << 63 : last;
  const std::uint64_t ends = blanks & ~taken & ~(spaces >> 1 & ~last);
  found |= ends & ~beyond;
  if (left == 0)
    unresolved_bits |= ends & last;

  // Behind a line break, if none follows in the run.
  std::uint64_t behind = blanks & (newlines << 1 | newline_) & ~taken;
  if (behind == 0)
    return found;
  const std::uint64_t ran = add(blanks, behind, carry);
  const auto remove_last_before = [&behind](std::uint64_t bit) {
    const std::uint64_t removed = highest(behind & (bit - 1));
    behind &= ~removed;
    return removed;
  };
  if (left == 0) {
    if (carry != 0 || (here < 64 && (ran & ~blanks & last << 1) != 0))
      unresolved_bits |= remove_last_before(here < 64 ? last << 1 : 0);
  } else if (carry != 0) {
    const std::uint64_t stop =
        ~(next_spaces & ~relation_bits[NEWLINE_CLASS][block + 1]) & first_bits(left);
    const std::uint64_t lowest = stop & (0 - stop);
    if (stop == 0)
      unresolved_bits |= remove_last_before(0);
    else if ((lowest & next_spaces) != 0)
      remove_last_before(0);
  }
  for (std::uint64_t broken = ran & ~blanks & spaces; broken != 0; broken &= broken - 1)
    remove_last_before(broken & (0 - broken));
  return found | behind;
}

} // namespace pretok
