// A pre-tokenizer: stages, each of which cuts every piece of the one before, seeing it as a
// whole text. pretok/machine/staged.py is its twin.
#pragma once

#include "core/split/fast/splitter.hpp"
#include "core/split/machine.hpp"
#include "core/split/program.hpp"
#include "core/split/sources.hpp"
#include "core/unicode/unicode.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Immutable; linear time.
class PreTokenizer {
public:
  // There is at least one stage.
  PreTokenizer(const std::vector<StageProgram> &stages, UnicodeTable table);

  // The classes of the first stage, which sources are made with.
  const ClassTable &classes() const { return stages_.front().machine.classes(); }
  // The machine, if there is one stage and it keeps what it cuts as it is; else nullptr.
  const Machine *only() const { return stages_.size() == 1 ? first() : nullptr; }
  // The machine of the first stage, if all boundaries that it finds are kept; else nullptr.
  const Machine *first() const {
    return stages_.front().behavior == Behavior::ISOLATED ? &stages_.front().machine : nullptr;
  }
  // Whether parts of the text are dropped.
  bool removes() const { return removes_; }

  // Calls emit(start, end, rule) for each pre-token; rules are numbered through all stages.
  // What no rule of a stage matched keeps the rule of the stage before.
  template <typename Source, typename Emit> void steps(const Source &source, Emit emit) const {
    if (source.size() != 0)
      cut<true>(0, source, 0, GAP, kernels(), emit);
  }
  // The same by the fast path: `rule` means nothing.
  template <typename Source, typename Emit>
  void spans(const Source &source, const Kernels &use, Emit emit) const {
    if (source.size() != 0)
      cut<false>(0, source, 0, GAP, use, emit);
  }

private:
  struct Stage {
    Machine machine;
    Behavior behavior;
    bool invert;
    int rules_before;
  };

  // Below this size the fast path takes longer to set up than it saves.
  static constexpr std::size_t WORTH_THE_FAST_PATH = 96;

  // `piece` starts at `at`.
  template <bool with_rules, typename Source, typename Emit>
  void cut(std::size_t index, const Source &piece, std::size_t at, int rule, const Kernels &use,
           Emit &emit) const {
    const Stage &stage = stages_[index];
    const bool is_last = index + 1 == stages_.size();
    const auto put = [&](std::size_t start, std::size_t end, int made_by) {
      const int known = made_by == GAP ? rule : stage.rules_before + made_by;
      if (is_last)
        emit(at + start, at + end, known);
      else
        cut<with_rules>(index + 1,
                        part_of(piece, start, end, stages_[index + 1].machine.classes()),
                        at + start, known, use, emit);
    };
    std::size_t start = 0;
    if (stage.behavior != Behavior::ISOLATED) {
      const auto put_part = [&put](const Part &part) { put(part.start, part.end, part.rule); };
      BehaviorApplier applier(stage.behavior, stage.invert, put_part);
      stage.machine.run(piece, false, false, [&](std::size_t end, int made_by) {
        applier.add(start, end, made_by);
        start = end;
      });
      applier.finish();
    } else if (with_rules || piece.size() < WORTH_THE_FAST_PATH) {
      stage.machine.run(piece, false, false, [&](std::size_t end, int made_by) {
        put(start, end, made_by);
        start = end;
      });
    } else {
      split(
          stage.machine, piece,
          [&](const std::size_t *ends, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) {
              put(start, ends[i], GAP);
              start = ends[i];
            }
          },
          use);
    }
  }

  std::vector<Stage> stages_;
  bool removes_ = false;
};

// Calls sink(ends, count), ends being a pointer to std::size_t, with the positions of the ends
// of all pre-tokens of `source`, in order, some at a time. No stage may remove text.
template <typename Source, typename Sink>
void split(const PreTokenizer &pre_tokenizer, const Source &source, Sink sink,
           const Kernels &use = kernels()) {
  if (const Machine *machine = pre_tokenizer.only())
    return split(*machine, source, sink, use);
  EndBuffer<Sink> ends(sink);
  pre_tokenizer.spans(source, use,
                      [&ends](std::size_t, std::size_t end, int) { ends.add(end); });
  ends.flush();
}

// How many pre-tokens `source` has.
template <typename Source>
std::size_t count(const PreTokenizer &pre_tokenizer, const Source &source,
                  const Kernels &use = kernels()) {
  if (const Machine *machine = pre_tokenizer.only())
    return count(*machine, source, use);
  std::size_t total = 0;
  pre_tokenizer.spans(source, use, [&total](std::size_t, std::size_t, int) { ++total; });
  return total;
}

} // namespace pretok
