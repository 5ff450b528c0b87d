// A pre-tokenizer: one or more stages. Each stage splits every piece of the stage before it as
// a text of its own. pretok/machine/staged.py is its twin.
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

  // Returns the classes of the first stage, for the sources to split.
  const ClassTable &classes() const { return stages_.front().machine.classes(); }
  // Returns the machine if there is only one stage and it is ISOLATED; else nullptr.
  const Machine *only() const { return stages_.size() == 1 ? first() : nullptr; }
  // Returns the machine of the first stage if that stage is ISOLATED; else nullptr.
  const Machine *first() const {
    return stages_.front().behavior == Behavior::ISOLATED ? &stages_.front().machine : nullptr;
  }
  // Whether a stage drops parts of the text.
  bool removes() const { return removes_; }

  // Calls emit(start, end, rule) for each pre-token. Rules are numbered through all stages. A
  // gap keeps the rule of the stage before.
  template <typename Source, typename Emit> void steps(const Source &source, Emit emit) const {
    if (source.size() != 0)
      cut<true>(0, source, 0, GAP, kernels(), emit);
  }
  // Calls emit(start, end, rule) for each pre-token, by the fast path; `rule` is meaningless.
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

  // In smaller texts the fast path costs more than it saves.
  static constexpr std::size_t WORTH_THE_FAST_PATH = 96;

  // `piece` starts at `at`.
  template <bool with_rules, typename Source, typename Emit>
  void cut(std::size_t index, const Source &piece, std::size_t at, int rule, const Kernels &use,
           Emit &emit) const {
    const Stage &stage = stages_[index];
    const bool is_last = index + 1 == stages_.size();
    const auto put = [&](std::size_t start, std::size_t end, int stage_rule) {
      const int number = stage_rule == GAP ? rule : stage.rules_before + stage_rule;
      if (is_last)
        emit(at + start, at + end, number);
      else
        cut<with_rules>(index + 1,
                        part_of(piece, start, end, stages_[index + 1].machine.classes()),
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
    } else if (with_rules || piece.size() < WORTH_THE_FAST_PATH) {
      stage.machine.run(piece, false, false, [&](std::size_t end, int stage_rule) {
        put(start, end, stage_rule);
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

// Calls sink(ends, count) with the ends of the next `count` pre-tokens of `source`, in order,
// until all are passed. `ends` is a pointer to std::size_t. No stage may remove text.
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

// Returns the number of pre-tokens of `source`.
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
