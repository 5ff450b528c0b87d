// A pre-tokenizer: one or more stages. Each stage splits every piece of the stage before it, as
// if the piece were a whole text. pretok/machine/staged.py is its twin.
#pragma once

#include "core/split/fast/neighbors.hpp"
#include "core/split/fast/splitter.hpp"
#include "core/split/machine.hpp"
#include "core/split/program.hpp"
#include "core/split/sources.hpp"
#include "core/unicode/unicode.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pretok {

// Immutable; linear time.
class PreTokenizer {
public:
  // There is at least one stage.
  PreTokenizer(std::vector<StageProgram> stages, UnicodeTable table);

  // Returns the classes of the first stage, for the sources to split.
  const ClassTable &classes() const { return stages_.front().machine.classes(); }
  // Returns the machine if there is only one stage and it is ISOLATED; else nullptr.
  const Machine *only() const { return stages_.size() == 1 ? first() : nullptr; }
  // Returns the machine of the first stage if that stage is ISOLATED; else nullptr.
  const Machine *first() const {
    return stages_.front().behavior == Behavior::ISOLATED ? &stages_.front().machine : nullptr;
  }
  // Returns whether a stage drops parts of the text.
  bool removes() const { return removes_; }

  // Returns the table of the ISOLATED stages before any other that share the alphabet of the
  // first one, or nullptr. A BOUNDARY of the table is a boundary of the split.
  const NeighborTable *cuts() const { return neighbors_ ? &*neighbors_ : nullptr; }

  // Returns whether Splitter can split by all stages at once.
  bool has_fast_path() const { return has_fast_path_; }
  // The next four members are the `Rules` of Splitter. They need has_fast_path().
  const NeighborTable &neighbors() const { return *neighbors_; }
  bool resumes_anywhere() const { return stages_.size() == 1; }
  bool end_matters(std::uint8_t last) const { return has(spaces_, last); }
  template <typename Source, typename Emit>
  void run(Text<Source> &text, std::size_t from, std::size_t to, Emit &emit) const {
    if (stages_.size() == 1) {
      stages_.front().machine.run(text, from, to, false, emit);
      return;
    }
    // A BOUNDARY depends only on the two code points around it. So one code point after `to`
    // shows whether `to` is a boundary.
    const std::size_t end = to < text.size() ? text.next(to) : to;
    const auto put = [&](std::size_t, std::size_t at, int rule) {
      if (at <= to)
        emit(at, rule);
    };
    cut<true>(0, part_of(text.source, from, end, classes()), from, GAP, kernels(), put);
  }

  // Calls emit(start, end, rule) for each pre-token. Rules are numbered through all stages. For
  // a gap, `rule` is that of the piece in the stage before.
  template <typename Source, typename Emit> void steps(const Source &source, Emit emit) const {
    if (source.size() != 0)
      cut<true>(0, source, 0, GAP, kernels(), emit);
  }
  // Calls emit(start, end, rule) for each pre-token, by the fast path; `rule` is meaningless.
  template <typename Source, typename Emit>
  void spans(const Source &source, const Kernels &use, Emit emit) const {
    if (source.size() == 0)
      return;
    if (!has_fast_path_)
      return cut<false>(0, source, 0, GAP, use, emit);
    std::size_t start = 0;
    const auto put_all = [&](const std::size_t *buffered, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        emit(start, buffered[i], GAP);
        start = buffered[i];
      }
    };
    EndBuffer ends(put_all);
    Splitter(*this, source, use, ends).split();
  }

private:
  struct Stage {
    Machine machine;
    Behavior behavior;
    bool invert;
    int rules_before;                       // number of rules of the stages before
    std::optional<NeighborTable> neighbors; // set if ISOLATED and not has_fast_path_
  };

  // One stage as the Rules of Splitter.
  struct StageRules {
    const Stage &stage;

    const NeighborTable &neighbors() const { return *stage.neighbors; }
    bool resumes_anywhere() const { return true; }
    bool end_matters(std::uint8_t last) const { return has(stage.machine.spaces(), last); }
    template <typename Source, typename Emit>
    void run(Text<Source> &text, std::size_t from, std::size_t to, Emit &emit) const {
      stage.machine.run(text, from, to, false, emit);
    }
  };

  // In a smaller piece, in code units, the fast path costs more than it saves.
  static constexpr std::size_t MIN_FAST_SIZE = 96;

  // Splits `piece` by stage `index` and all later stages. `piece` starts at `at` of the text;
  // `rule` is the rule of the piece in the stage before, or GAP.
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
      return;
    }
    if constexpr (!with_rules)
      if (piece.size() >= MIN_FAST_SIZE)
        return cut_fast(stage, piece, use, put);
    stage.machine.run(piece, false, false, [&](std::size_t end, int stage_rule) {
      put(start, end, stage_rule);
      start = end;
    });
  }

  // Splits `piece` by one ISOLATED stage on the fast path.
  template <typename Source, typename Put>
  static void cut_fast(const Stage &stage, const Source &piece, const Kernels &use,
                       const Put &put) {
    std::size_t start = 0;
    const auto put_all = [&](const std::size_t *buffered, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        put(start, buffered[i], GAP);
        start = buffered[i];
      }
    };
    EndBuffer ends(put_all);
    const StageRules rules{stage};
    Splitter(rules, piece, use, ends).split();
  }

  std::vector<Stage> stages_;
  std::optional<NeighborTable> neighbors_;
  bool has_fast_path_ = false;
  bool removes_ = false;
  Mask spaces_ = 0; // white space of every Spaces rule
};

// Calls sink(ends, count) until it has passed the ends of all pre-tokens of `source`, in order.
// `ends` points to `count` values of std::size_t. `count` is at most
// ClassBuffer::MAX_CODE_POINTS + ClassBuffer::PADDING. No stage may remove text.
template <typename Source, typename Sink>
void split(const PreTokenizer &pre_tokenizer, const Source &source, Sink sink,
           const Kernels &use = kernels()) {
  EndBuffer ends(sink);
  if (pre_tokenizer.has_fast_path())
    return Splitter(pre_tokenizer, source, use, ends).split();
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
    Splitter(pre_tokenizer, source, use, counter).split();
  else
    pre_tokenizer.spans(source, use,
                        [&](std::size_t, std::size_t end, int) { counter.add(end); });
  return counter.total();
}

} // namespace pretok
