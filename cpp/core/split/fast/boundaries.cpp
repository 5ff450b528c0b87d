#include "core/split/fast/boundaries.hpp"

#include "core/base/bits.hpp"

namespace pretok {
namespace {

constexpr std::uint64_t ONE = 1;

// Returns a mask of the lowest min(count, 64) bits.
std::uint64_t first_bits(std::size_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (ONE << count) - 1;
}

// Returns the sum modulo 2^64. Sets `carry` to the carry out of the highest bit.
std::uint64_t add(std::uint64_t a, std::uint64_t b, std::uint64_t &carry) {
  const std::uint64_t sum = a + b;
  carry = sum < a;
  return sum;
}

// Like Kernels::resolve_labels, but for tables with JOINED pairs.
void resolve_joined_labels(const RelationBits &relation_bits, std::size_t blocks,
                           unsigned label_bits, Carry &carry, BoundaryBits &boundaries) {
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::uint64_t certain = relation_bits[BOUNDARY][block];
    const std::uint64_t unresolved = relation_bits[UNRESOLVED][block];
    const std::uint64_t conditional = relation_bits[CONDITIONAL][block];
    const std::uint64_t plain =
        ~(certain | unresolved | conditional | relation_bits[SPACE_PAIR][block]);
    const std::uint64_t joined = relation_bits[JOINED][block] & plain;
    const std::uint64_t after_plain = plain << 1 | carry.plain >> 63;
    const std::uint64_t may_change = plain & after_plain & ~joined;
    // First find the changes between two pairs that are not JOINED. Changes after a run of
    // JOINED pairs are not known yet.
    std::uint64_t differs = 0;
    for (unsigned i = 0; i < label_bits; ++i) {
      const std::uint64_t label = relation_bits[LABEL + i][block];
      differs |= label ^ (label << 1 | carry.labels[i] >> 63);
    }
    std::uint64_t changed = differs & may_change;
    // A run of JOINED pairs takes the label of the pair before the run. A run that begins a
    // pre-token takes the label of its own first pair. For each bit of the label, `first` has
    // the start of each run whose label has this bit. The sum joined + first clears these runs
    // (add-with-carry, as in white_space). So joined & ~(joined + first) has exactly these
    // runs.
    const std::uint64_t begins = joined & ~(joined << 1);
    const std::uint64_t takes = begins & after_plain & ~(changed << 1 | carry.changed >> 63);
    differs = 0;
    for (unsigned i = 0; i < label_bits; ++i) {
      std::uint64_t label = relation_bits[LABEL + i][block];
      const std::uint64_t before = label << 1 | carry.labels[i] >> 63;
      const std::uint64_t first = (takes & before) | (begins & ~takes & label);
      label = (label & ~joined) | (joined & ~(joined + first));
      differs |= label ^ (label << 1 | carry.labels[i] >> 63);
      carry.labels[i] = label;
    }
    changed = differs & may_change;
    const std::uint64_t doubtful =
        relation_bits[AMBIGUOUS][block] | changed << 1 | carry.changed >> 63;
    // The first pair of a run of JOINED pairs is unresolved if a single pair lies between this
    // run and the previous run of JOINED pairs. When this run took the label of the single
    // pair, it was not known whether the label changes at the single pair.
    const std::uint64_t between = begins & ~(joined << 1 | carry.joined >> 63) & after_plain &
                                  (joined << 2 | carry.joined >> 62);
    carry.plain = plain;
    carry.joined = joined;
    carry.changed = changed;
    boundaries.certain[block] = certain;
    boundaries.all[block] = certain | conditional | (changed & ~doubtful);
    boundaries.unresolved[block] = unresolved | (changed & doubtful) | between;
    boundaries.changed[block] = changed;
  }
}

} // namespace

void Boundaries::resolve(const Kernels &use, const RelationBits &relation_bits,
                         std::size_t count) {
  const auto resolve_labels = has_joined_ ? resolve_joined_labels : use.resolve_labels;
  resolve_labels(relation_bits, (count + 63) / 64, label_bits_, carry_, *this);
  for (std::size_t block = 0, left = count; left != 0; ++block) {
    const std::size_t here = left < 64 ? left : 64;
    left -= here;
    const std::uint64_t pairs = relation_bits[LENGTH_LIMITED][block];
    if ((pairs | limited_pairs_) != 0) {
      const std::uint64_t limits = limit_lengths(pairs);
      (has_exact_limit_ ? all : unresolved)[block] |= limits;
      // If the label changes at a LENGTH_LIMITED pair, a pre-token begins with the second code
      // point of the pair. The limit counts from there, but limit_lengths counts from the first
      // code point. So the rules resolve this pair.
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
  // A pair is in `too_long` if the pair is the last of n = length_limit_ limited pairs in a
  // row. In each run of `too_long` pairs, the first pair is a boundary, and so is every n-th
  // pair after it. With n = 3 and the digits 1234567:
  //   pairs     . 1 1 1 1 1 1     pair i has digits i - 1 and i
  //   too_long  . . . 1 1 1 1     pairs & pairs << 1 & pairs << 2
  //   limits    . . . 1 . . 1     123 456 7
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
  // Add-with-carry finds the end of a run of ones: a bit added at the start of the run carries
  // through all ones of the run, and stops in the first zero after the run. One addition serves
  // all runs of the word. The carry out of the highest bit continues in the next block. Here
  // the runs are white space that tails take. A tail that begins at bit i of `starts` continues
  // at bit i + 1 (lowest bit first):
  //   tails               . . 1 1 1 . . 1 1 .
  //   taken_from          . . 1 . . . . . . .
  //   past = sum          . . . . . 1 . 1 1 .     the second run stays: no tail enters it
  //   tails & ~past       . . 1 1 1 . . . . .     taken by the tail
  //   past & ~tails       . . . . . 1 . . . .     the first code point after the tail
  const std::uint64_t tails = spaces & relation_bits[TAIL_CLASS][block];
  const std::uint64_t taken_from = starts << 1 | tail_;
  std::uint64_t carry;
  const std::uint64_t past = add(tails, taken_from, carry);
  tail_ = carry | starts >> 63;
  const std::uint64_t taken = tails & ~past;
  std::uint64_t boundaries = past & ~tails & spaces;

  // ALL_BUT_LAST: a boundary before the last code point of a run, unless this code point is a
  // line break that LAST_NEWLINE takes. At the end of the buffer the run may continue in the
  // next buffer, so the pair is unresolved.
  const std::uint64_t last = ONE << (here - 1);
  const std::uint64_t blanks = spaces & ~newlines;
  const std::uint64_t continues = left != 0 ? next_spaces << 63 : last;
  const std::uint64_t ends = blanks & ~taken & ~(spaces >> 1 & ~last);
  // If an earlier stage ends the piece at the end of the run, ALL_BUT_LAST takes the whole run.
  // If the stage may or may not end the piece there, the pair at the end of the run is
  // UNRESOLVED. Then the pair before it is unresolved too.
  const auto next = [&](Relation relation) {
    return relation_bits[relation][block] >> 1 |
           (left != 0 ? relation_bits[relation][block + 1] << 63 : 0);
  };
  const std::uint64_t piece_ends = next(PIECE_END);
  boundaries |= ends & ~continues & ~piece_ends;
  unresolved_bits |= ends & piece_ends & next(UNRESOLVED);
  if (left == 0)
    unresolved_bits |= ends & last;

  // LAST_NEWLINE: a boundary after a line break, unless another line break follows in the run.
  // Each bit of `after_newline` is a candidate for such a boundary, and starts a run of blanks:
  // white space other than line breaks. The addition finds the end of each run of blanks. If a
  // line break follows the run of blanks (`broken`), the candidate is removed.
  std::uint64_t after_newline = blanks & (newlines << 1 | newline_) & ~taken;
  if (after_newline == 0)
    return boundaries;
  const std::uint64_t past_blanks = add(blanks, after_newline, carry);
  // `bit` is a mask of one bit, or 0. Removes and returns the last candidate below this bit. If
  // `bit` is 0, removes and returns the last of all candidates.
  const auto remove_last_before = [&after_newline](std::uint64_t bit) {
    const std::uint64_t removed = highest(after_newline & (bit - 1));
    after_newline &= ~removed;
    return removed;
  };
  if (left == 0) {
    // If the last run of blanks reaches the end of the buffer, a line break may follow in the
    // next buffer.
    if (carry != 0 || (here < 64 && (past_blanks & ~blanks & last << 1) != 0))
      unresolved_bits |= remove_last_before(here < 64 ? last << 1 : 0);
  } else if (carry != 0) {
    // The last run of blanks continues in the next block. `lowest` is the code point that ends
    // it there. If a line break of the same run of white space ends it, remove the candidate.
    // If no code point of the block ends it, the candidate is unresolved.
    const std::uint64_t stop =
        ~(next_spaces & ~relation_bits[NEWLINE_CLASS][block + 1]) & first_bits(left);
    const std::uint64_t lowest = stop & (0 - stop);
    if (stop == 0)
      unresolved_bits |= remove_last_before(0);
    else if ((lowest & next_spaces) != 0)
      remove_last_before(0);
  }
  for (std::uint64_t broken = past_blanks & ~blanks & spaces; broken != 0; broken &= broken - 1)
    remove_last_before(broken & (0 - broken));
  return boundaries | after_newline;
}

} // namespace pretok
