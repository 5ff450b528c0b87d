// The behaviors of a stage (pre_tokenizer.hpp). A behavior turns the matches of the rules, and
// the gaps between them, into pieces. pretok/behaviors.py has the same behaviors in Python. The
// pieces of "a-b--c", if each "-" is a match:
//   ISOLATED              a | - | b | - | - | c
//   REMOVED               a | b | c
//   MERGED_WITH_PREVIOUS  a- | b- | - | c
//   MERGED_WITH_NEXT      a | -b | - | -c
//   CONTIGUOUS            a | - | b | -- | c
// With `invert`, gaps count as matches, and matches as gaps.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pretok {

enum class Behavior : std::uint32_t {
  ISOLATED = 0,
  REMOVED = 1,
  MERGED_WITH_PREVIOUS = 2,
  MERGED_WITH_NEXT = 3,
  CONTIGUOUS = 4,
};

// The rule index of a gap: text that no rule matched.
inline constexpr int GAP = -1;

// A match or a gap: the code units in [start, end).
struct Part {
  std::size_t start;
  std::size_t end;
  int rule;     // index of the rule, or GAP
  bool matched; // whether the part counts as a match; `invert` is already applied
};

// Calls emit(piece) for each piece that `behavior` makes of the added parts. Holds the last
// piece back while a later part may still join the piece. Each part starts at the end of the
// previous part.
template <typename Emit> class BehaviorApplier {
public:
  BehaviorApplier(Behavior behavior, bool invert, Emit &emit)
      : behavior_(behavior), invert_(invert), emit_(emit) {}

  void add(std::size_t start, std::size_t end, int rule) {
    const Part part{start, end, rule, (rule != GAP) != invert_};
    switch (behavior_) {
    case Behavior::ISOLATED:
      return emit_(part);
    case Behavior::REMOVED:
      if (!part.matched)
        emit_(part);
      return;
    case Behavior::MERGED_WITH_PREVIOUS:
      return next(part, part.matched && !held_.matched);
    case Behavior::MERGED_WITH_NEXT:
      next(part, !part.matched && held_.matched);
      if (!part.matched)
        finish();
      return;
    case Behavior::CONTIGUOUS:
      return next(part, part.matched == held_.matched);
    }
  }

  // Emits the held piece. Call it after the last part.
  void finish() {
    if (holds_)
      emit_(held_);
    holds_ = false;
  }

private:
  // If a piece is held and `joins` is true, appends `part` to the held piece. Otherwise emits
  // the held piece, if any, and holds `part`.
  void next(const Part &part, bool joins) {
    if (!holds_ || !joins) {
      finish();
      held_ = part;
      holds_ = true;
      return;
    }
    held_.end = part.end;
    held_.matched |= part.matched;
    if (held_.rule == GAP)
      held_.rule = part.rule;
  }

  const Behavior behavior_;
  const bool invert_;
  Emit &emit_;
  Part held_{};
  bool holds_ = false;
};

} // namespace pretok
