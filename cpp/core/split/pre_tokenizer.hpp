// A pre-tokenizer: one or more stages. The first stage splits the text. Each later stage splits
// every piece of the previous stage, as if the piece were a whole text. The behavior of a stage
// (behavior.hpp) says which pieces the stage makes. The usual behavior is ISOLATED: each match
// of a rule and each gap between matches is a piece. pretok/machine/staged.py does the same in
// Python.
#pragma once

#include "core/base/function_ref.hpp"
#include "core/base/noinline.hpp"
#include "core/split/fast/neighbors.hpp"
#include "core/split/fast/splitter.hpp"
#include "core/split/machine.hpp"
#include "core/split/program.hpp"
#include "core/split/sources.hpp"
#include "core/unicode/unicode.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pretok {

// Immutable. Splitting takes linear time.
class PreTokenizer {
public:
  using OnPiece = FunctionRef<void(std::size_t start, std::size_t end, int rule)>;

  // `stages` has at least one stage. `table` is the table of the Unicode version to use.
  PreTokenizer(std::vector<StageProgram> stages, UnicodeTable table);

  // Returns the class table of the first stage. Every source to split must use this table.
  const ClassTable &classes() const { return stages_.front().machine.classes(); }
  // Returns the machine if there is only one stage and it is ISOLATED; else nullptr.
  const Machine *only() const { return stages_.size() == 1 ? first() : nullptr; }
  // Returns the machine of the first stage if that stage is ISOLATED; else nullptr.
  const Machine *first() const {
    return stages_.front().behavior == Behavior::ISOLATED ? &stages_.front().machine : nullptr;
  }
  // Returns whether all stages are ISOLATED.
  bool is_isolated() const {
    return std::all_of(stages_.begin(), stages_.end(),
                       [](const Stage &stage) { return stage.behavior == Behavior::ISOLATED; });
  }
  // Returns whether a stage drops parts of the text.
  bool removes() const { return removes_; }

  // Returns the table of relations between neighbors (neighbors.hpp), or nullptr if the first
  // stage is not ISOLATED. The table covers the ISOLATED stages before the first stage with
  // another behavior. If the stages do not share one alphabet, the table covers the first stage
  // only. A BOUNDARY is a pair of classes. Between code points of these classes, every text has
  // a boundary.
  const NeighborTable *cuts() const { return neighbors_ ? &*neighbors_ : nullptr; }
  // Returns whether a pair of classes is a joint of all stages (neighbors.hpp).
  bool is_joint(std::uint8_t before, std::uint8_t after) const {
    return has_fast_path_ && neighbors_->is_joint(before, after);
  }

  // Returns whether Splitter can split by all stages at once: all stages are ISOLATED and share
  // one alphabet.
  bool has_fast_path() const { return has_fast_path_; }
  // Adds the end of each pre-token to `ends`. has_fast_path() must be true.
  template <typename Source>
  PRETOK_NOINLINE void split(const Source &source, const Kernels &use, EndOutput &ends) const {
    Splitter(Rules{*this, stages_.size() == 1 ? &stages_.front() : nullptr}, source, use, ends)
        .split();
  }

  // Calls emit(start, end, rule) for each pre-token. `rule` is the number of the rule that
  // matched the pre-token in the last stage. If no rule of a stage matched, `rule` is the rule
  // of the surrounding piece in the previous stage. `rule` is GAP if no rule of any stage
  // matched. The rules of all stages are numbered consecutively.
  template <typename Source> void steps(const Source &source, const OnPiece &emit) const {
    if (source.size() != 0)
      cut(0, source, 0, GAP, nullptr, emit);
  }
  // Calls emit(start, end, rule) for each pre-token. Uses the fast path if possible, so `rule`
  // is meaningless. `use` has the kernels of one instruction set (kernels.hpp).
  template <typename Source, typename Emit>
  void spans(const Source &source, const Kernels &use, Emit emit) const {
    if (source.size() == 0)
      return;
    if (!has_fast_path_)
      return cut(0, source, 0, GAP, &use, emit);
    auto pieces = pieces_of_ends(emit);
    EndBuffer ends(pieces);
    split(source, use, ends);
  }
  // Like `spans`, but splits stage by stage. Slower, but compiled once for all callers.
  template <typename Source>
  void spans_by_stage(const Source &source, const Kernels &use, const OnPiece &emit) const {
    if (source.size() != 0)
      cut(0, source, 0, GAP, &use, emit);
  }
  // Calls emit(end) for the end of each pre-token that no text after `source` changes. All
  // stages must be ISOLATED.
  template <typename Source, typename Emit>
  void decided(const Source &source, const Emit &emit) const {
    decide(0, source, 0, true, emit);
  }

private:
  struct Stage {
    Machine machine;
    Behavior behavior;
    bool invert;
    int rules_before;                       // number of rules of all earlier stages
    std::optional<NeighborTable> neighbors; // set if !has_fast_path_ and the stage is ISOLATED
  };

  // The `Rules` of Splitter (splitter.hpp), for one stage or for all stages.
  struct Rules {
    const PreTokenizer &all;
    const Stage *only; // nullptr: all stages

    const NeighborTable &neighbors() const {
      return only != nullptr && only->neighbors ? *only->neighbors : *all.neighbors_;
    }
    bool resumes_anywhere() const { return only != nullptr; }
    bool end_matters(std::uint8_t last) const {
      return has(only != nullptr ? only->machine.spaces() : all.spaces_, last);
    }
    template <typename Source, typename Emit>
    void run(Text<Source> &text, std::size_t from, std::size_t to, Emit &emit) const {
      if (only != nullptr) {
        only->machine.run(text, from, to, false, emit);
        return;
      }
      // A BOUNDARY depends only on the two code points around it. So one code point after `to`
      // shows whether `to` is a boundary.
      const std::size_t end = to < text.size() ? text.next(to) : to;
      const auto put = [&](std::size_t, std::size_t at, int rule) {
        if (at <= to)
          emit(at, rule);
      };
      all.cut(0, part_of(text.source, from, end, all.classes()), from, GAP, nullptr, put);
    }
  };

  // In a piece with fewer code units than this, the fast path costs more than it saves.
  static constexpr std::size_t MIN_FAST_SIZE = 96;

  // Splits `piece` by stage `index` and all later stages. If `use` is nullptr, only the
  // machines of rules split. Otherwise ISOLATED stages split long pieces with the fast path.
  // `piece` starts at code unit `at` of the text. `rule` is the rule of the piece in the
  // previous stage, or GAP.
  template <typename Source>
  PRETOK_NOINLINE void cut(std::size_t index, const Source &piece, std::size_t at, int rule,
                           const Kernels *use, const OnPiece &emit) const {
    const Stage &stage = stages_[index];
    const bool is_last = index + 1 == stages_.size();
    const auto put = [&](std::size_t start, std::size_t end, int stage_rule) {
      const int number = stage_rule == GAP ? rule : stage.rules_before + stage_rule;
      if (is_last)
        emit(at + start, at + end, number);
      else
        cut(index + 1, part_of(piece, start, end, stages_[index + 1].machine.classes()),
            at + start, number, use, emit);
    };
    std::size_t start = 0;
    if (stage.behavior != Behavior::ISOLATED) {
      const auto put_part = [&put](const Part &part) { put(part.start, part.end, part.rule); };
      BehaviorApplier applier(stage.behavior, stage.invert, put_part);
      stage.machine.run(piece, false, false, [&](std::size_t end, int stage_rule) {
        applier.add(start, end, stage_rule);
        start = end;
      });
      applier.finish();
      return;
    }
    if (use != nullptr && piece.size() >= MIN_FAST_SIZE) {
      auto pieces = pieces_of_ends(put);
      EndBuffer ends(pieces);
      return Splitter(Rules{*this, &stage}, piece, *use, ends).split();
    }
    stage.machine.run(piece, false, false, [&](std::size_t end, int stage_rule) {
      put(start, end, stage_rule);
      start = end;
    });
  }

  // Like `cut` for `decided`. If `partial`, more text may follow `piece`.
  template <typename Source, typename Emit>
  void decide(std::size_t index, const Source &piece, std::size_t at, bool partial,
              const Emit &emit) const {
    const Machine &machine = stages_[index].machine;
    const auto put = [&](std::size_t start, std::size_t end, bool may_continue) {
      if (index + 1 != stages_.size())
        decide(index + 1, part_of(piece, start, end, stages_[index + 1].machine.classes()),
               at + start, may_continue, emit);
      else if (!may_continue)
        emit(at + end);
    };
    std::size_t start = 0;
    const Undecided rest = machine.run(piece, partial, false, [&](std::size_t end, int) {
      put(start, end, false);
      start = end;
    });
    if (rest.in_gap && start < rest.position)
      put(start, rest.position, true);
  }

  // Returns a sink for an EndBuffer. For each end, the sink calls emit(start, end, GAP), where
  // `start` is the previous end, or 0.
  template <typename Emit> static auto pieces_of_ends(const Emit &emit) {
    return [&emit, start = std::size_t{0}](const std::size_t *ends, std::size_t count) mutable {
      for (std::size_t i = 0; i < count; ++i) {
        emit(start, ends[i], GAP);
        start = ends[i];
      }
    };
  }

  std::vector<Stage> stages_;
  std::optional<NeighborTable> neighbors_;
  bool has_fast_path_ = false;
  bool removes_ = false;
  Mask spaces_ = 0; // classes of white space of all Spaces rules
};

// Compiled once, like Machine::match, in split_utf8.cpp.
extern template void PreTokenizer::split(const Utf8 &source, const Kernels &use,
                                         EndOutput &ends) const;
extern template void PreTokenizer::cut(std::size_t index, const Utf8 &piece, std::size_t at,
                                       int rule, const Kernels *use, const OnPiece &emit) const;

// Calls sink(ends, count) until it has passed the ends of all pre-tokens of `source`, in order.
// `ends` points to `count` values of std::size_t. `count` is at most
// ClassBuffer::MAX_CODE_POINTS + ClassBuffer::PADDING. No stage may remove text.
template <typename Source, typename Sink>
void split(const PreTokenizer &pre_tokenizer, const Source &source, const Sink &sink,
           const Kernels &use = kernels()) {
  EndBuffer ends(sink);
  if (pre_tokenizer.has_fast_path())
    return pre_tokenizer.split(source, use, ends);
  pre_tokenizer.spans(source, use,
                      [&ends](std::size_t, std::size_t end, int) { ends.add(end); });
  ends.flush();
}

// Returns the number of pre-tokens of `source`.
template <typename Source>
std::size_t count(const PreTokenizer &pre_tokenizer, const Source &source,
                  const Kernels &use = kernels()) {
  EndCounter counter;
  if (pre_tokenizer.has_fast_path())
    pre_tokenizer.split(source, use, counter);
  else
    pre_tokenizer.spans(source, use,
                        [&](std::size_t, std::size_t end, int) { counter.add(end); });
  return counter.total();
}

} // namespace pretok
