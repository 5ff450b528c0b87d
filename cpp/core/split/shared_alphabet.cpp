#include "core/split/shared_alphabet.hpp"

#include "core/unicode/classes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <variant>

namespace pretok {
namespace {

// The class of one code point in each stage.
using StageClasses = std::vector<std::uint8_t>;

// Returns ranges that start wherever a range of some alphabet starts. The class maps of the
// ranges are not set yet.
Alphabet all_ranges(const std::vector<StageProgram> &stages) {
  Alphabet ranges;
  for (const StageProgram &stage : stages)
    for (const AlphabetRange &range : stage.program.alphabet)
      ranges.push_back({range.start, {}});
  std::sort(ranges.begin(), ranges.end(),
            [](const AlphabetRange &a, const AlphabetRange &b) { return a.start < b.start; });
  ranges.erase(std::unique(ranges.begin(), ranges.end(),
                           [](const AlphabetRange &a, const AlphabetRange &b) {
                             return a.start == b.start;
                           }),
               ranges.end());
  return ranges;
}

// Returns the class of `code_point` in each stage. `atom` is the value of the code point in the
// Unicode table: the number of a set of code points with equal properties.
StageClasses classes_of(const std::vector<StageProgram> &stages, std::uint32_t code_point,
                        std::uint32_t atom) {
  StageClasses classes;
  for (const StageProgram &stage : stages) {
    const Alphabet &alphabet = stage.program.alphabet;
    const auto next = std::upper_bound(
        alphabet.begin(), alphabet.end(), code_point,
        [](std::uint32_t at, const AlphabetRange &range) { return at < range.start; });
    classes.push_back((next - 1)->class_map[atom]);
  }
  return classes;
}

// Translates a mask of stage `index` to the shared alphabet. classes[i][s] is the class of
// stage s that class i of the shared alphabet stands for. Returns the mask of all i for which
// classes[i][index] is in `mask`.
Mask translate(const std::vector<StageClasses> &classes, std::size_t index, Mask mask) {
  Mask translated = 0;
  for (std::size_t class_ = 0; class_ < classes.size(); ++class_)
    if (has(mask, classes[class_][index]))
      translated |= Mask{1} << class_;
  return translated;
}

} // namespace

bool share_alphabet(std::vector<StageProgram> &stages, UnicodeTable table) {
  Alphabet shared = all_ranges(stages);
  std::vector<StageClasses> classes;
  std::size_t run = 0;
  for (std::size_t i = 0; i < shared.size(); ++i) {
    const std::uint32_t start = shared[i].start;
    const std::uint32_t end = i + 1 < shared.size() ? shared[i + 1].start : CODE_POINTS;
    // Only atoms that occur in the range need a class.
    std::array<bool, ATOM_COUNT> is_mapped{};
    for (; run < table.size; ++run) {
      const std::uint32_t atom = table.runs[run] & 0xFF;
      if (!is_mapped[atom]) {
        is_mapped[atom] = true;
        const StageClasses stage_classes = classes_of(stages, start, atom);
        const auto at = std::find(classes.begin(), classes.end(), stage_classes);
        shared[i].class_map[atom] = static_cast<std::uint8_t>(at - classes.begin());
        if (at == classes.end()) {
          if (classes.size() == END)
            return false;
          classes.push_back(stage_classes);
        }
      }
      if (run + 1 == table.size || table.runs[run + 1] >> 8 >= end)
        break; // the next range may begin within this run
    }
    if (run + 1 < table.size && table.runs[run + 1] >> 8 == end)
      ++run;
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    stages[i].program.alphabet = shared;
    for (Rule &rule : stages[i].program.rules)
      std::visit(
          [&](auto &kind) {
            kind.for_masks([&](Mask &mask) { mask = translate(classes, i, mask); });
          },
          rule);
  }
  return true;
}

} // namespace pretok
