// Explains how a preset splits a text at one position: which rules each stage tries there.
#include "core/split/machine.hpp"
#include "core/split/presets.hpp"
#include "core/split/program.hpp"
#include "core/unicode/unicode.hpp"
#include "wasm/results.hpp"
#include "wasm/source.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <variant>

namespace pretok {
namespace {

// The number in results that stands for no match (as the end of a match), or for a gap (as the
// index of a rule).
constexpr std::uint32_t NO_END = 0xFFFFFFFF;

struct TriedRule {
  std::uint32_t rule; // the index of the rule in the stage
  std::size_t end;    // the end of its match; NO_MATCH if the rule does not match
};

// The split that one stage makes at one position. All positions count code units of the whole
// text.
struct StageStep {
  std::size_t piece_start; // the piece that the stage splits
  std::size_t piece_end;
  std::size_t start;            // the position where the rules were tried
  std::vector<TriedRule> tried; // the rules that were tried at `start`
  int rule = GAP;               // the index in the stage of the rule that matched, or GAP
  std::size_t part_start;       // the part that the stage makes; the piece of the next stage
  std::size_t part_end;
  bool is_dropped = true; // whether the stage drops the part
};

// Tries the rules at `start` in order, up to the first rule that matches. Sets step.tried.
template <typename Source>
void try_rules(const Machine &machine, const Source &piece, std::size_t start,
               StageStep &step) {
  Text<Source> text(piece, false);
  text.here = piece.element(start);
  const std::vector<int> &candidates = machine.candidates()[text.here.class_];
  for (std::size_t i = 0; i < machine.rules().size(); ++i) {
    // Call rule.match() only if the rule is a candidate for the class at `start`. Without this
    // condition, its result has no meaning.
    const bool is_candidate = std::find(candidates.begin(), candidates.end(),
                                        static_cast<int>(i)) != candidates.end();
    const std::size_t end =
        is_candidate ? std::visit([&](const auto &rule) { return rule.match(text, start); },
                                  machine.rules()[i])
                     : NO_MATCH;
    step.tried.push_back({static_cast<std::uint32_t>(i), end});
    if (end != NO_MATCH)
      return;
  }
}

// Explains how `stage` splits `piece` at `position`. `position` and all positions in the result
// count code units of the piece.
template <typename Source>
StageStep explain_stage(const StageProgram &stage, const Machine &machine, const Source &piece,
                        std::size_t position) {
  StageStep step{};
  step.piece_end = piece.size();
  const auto has_position = [position](std::size_t start, std::size_t end) {
    return start <= position && position < end;
  };
  const auto put = [&](const Part &part) {
    if (!has_position(part.start, part.end))
      return;
    step.part_start = part.start;
    step.part_end = part.end;
    step.is_dropped = false;
  };
  BehaviorApplier applier(stage.behavior, stage.invert, put);
  std::size_t start = 0;
  machine.run(piece, false, false, [&](std::size_t end, int rule) {
    if (has_position(start, end)) {
      step.part_start = step.start = start;
      step.part_end = end;
      step.rule = rule;
    }
    applier.add(start, end, rule);
    start = end;
  });
  applier.finish();
  // In a gap, the rules were tried at each code point. Move to the code point at `position`.
  if (step.rule == GAP)
    while (step.start + piece.element(step.start).width <= position)
      step.start += piece.element(step.start).width;
  try_rules(machine, piece, step.start, step);
  return step;
}

// Explains how each stage splits the piece that contains `position`. Ends early after a stage
// that drops this piece.
template <typename Source>
std::vector<StageStep> explain(const std::vector<StageProgram> &stages, UnicodeTable table,
                               const Source &source, std::size_t position) {
  std::vector<StageStep> steps;
  std::size_t start = 0;
  std::size_t end = source.size();
  for (const StageProgram &stage : stages) {
    const auto classes = std::make_shared<ClassTable>(stage.program.alphabet, table);
    const Machine machine(stage.program.rules, classes);
    StageStep step =
        explain_stage(stage, machine, part_of(source, start, end, *classes), position - start);
    for (std::size_t *place :
         {&step.piece_start, &step.piece_end, &step.start, &step.part_start, &step.part_end})
      *place += start;
    for (TriedRule &tried : step.tried)
      if (tried.end != NO_MATCH)
        tried.end += start;
    start = step.part_start;
    end = step.part_end;
    steps.push_back(std::move(step));
    if (steps.back().is_dropped)
      break;
  }
  return steps;
}

// Converts `offset`, which counts in `unit`, to a position in code units of `source`. For an
// offset within a code point, returns the start of the code point.
template <typename Source>
std::size_t code_unit_at(const Source &source, std::size_t offset, OffsetUnit unit) {
  std::size_t at = 0;
  std::size_t seen = 0;
  while (at < source.size()) {
    seen += width_at(source, at, unit);
    if (seen > offset)
      return at;
    at += source.element(at).width;
  }
  return at;
}

// Converts positions in code units of a text to offsets in `unit`.
class Converter {
public:
  // `places` has all positions to convert, in any order.
  template <typename Source>
  Converter(const Source &source, std::vector<std::size_t> places, OffsetUnit unit)
      : places_(std::move(places)) {
    std::sort(places_.begin(), places_.end());
    offsets_.assign(places_.begin(), places_.end());
    convert(source, offsets_, unit);
  }
  std::uint32_t operator()(std::size_t place) const {
    const auto at = std::lower_bound(places_.begin(), places_.end(), place);
    return offsets_[static_cast<std::size_t>(at - places_.begin())];
  }

private:
  std::vector<std::size_t> places_;
  std::vector<std::uint32_t> offsets_;
};

// Appends the steps to result 0, with positions in `unit`. Appends these numbers for each step:
// piece_start, piece_end, start, rule, part_start, part_end, is_dropped, and the number of
// tried rules; then the rule and the end of each tried rule. The rules of all stages are
// numbered consecutively.
template <typename Source>
void write_steps(const std::vector<StageStep> &steps, const std::vector<StageProgram> &stages,
                 const Source &source, OffsetUnit unit) {
  std::vector<std::size_t> places;
  for (const StageStep &step : steps) {
    places.insert(places.end(), {step.piece_start, step.piece_end, step.start, step.part_start,
                                 step.part_end});
    for (const TriedRule &tried : step.tried)
      if (tried.end != NO_MATCH)
        places.push_back(tried.end);
  }
  const Converter offset(source, std::move(places), unit);
  std::uint32_t rules_before = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StageStep &step = steps[i];
    const std::uint32_t rule =
        step.rule == GAP ? NO_END : rules_before + static_cast<std::uint32_t>(step.rule);
    results[0].insert(results[0].end(), {offset(step.piece_start), offset(step.piece_end),
                                         offset(step.start), rule, offset(step.part_start),
                                         offset(step.part_end), step.is_dropped ? 1U : 0U,
                                         static_cast<std::uint32_t>(step.tried.size())});
    for (const TriedRule &tried : step.tried) {
      results[0].push_back(rules_before + tried.rule);
      results[0].push_back(tried.end == NO_MATCH ? NO_END : offset(tried.end));
    }
    rules_before += static_cast<std::uint32_t>(stages[i].program.rules.size());
  }
}

} // namespace
} // namespace pretok

using namespace pretok;

// Result 0: the steps at `position`, which counts in `unit`; write_steps describes the numbers.
// Result 0 is empty if `position` is not in the text. `preset` is the name of a built-in
// preset, or nullptr for the preset of the program `words`. `unicode` must be built in.
PRETOK_WASM(pretok_wasm_explain)
void pretok_wasm_explain(const char *preset, const std::uint32_t *words, std::size_t count,
                         const char *unicode, const void *text, std::size_t size, int is_utf8,
                         std::size_t position, int unit) {
  results[0].clear();
  std::vector<StageProgram> stages;
  const std::string error = preset != nullptr
                                ? read_stages(find_preset(preset)->words(), stages)
                                : read_stages(words, count, stages);
  if (!error.empty())
    return;
  const UnicodeTable table = unicode_table(unicode);
  const ClassTable classes(stages.front().program.alphabet, table);
  with_source({text, size, is_utf8 != 0}, classes, [&](const auto &source) {
    const std::size_t at = code_unit_at(source, position, unit_of(unit));
    if (at < source.size())
      write_steps(explain(stages, table, source, at), stages, source, unit_of(unit));
  });
}
