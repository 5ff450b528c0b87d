// Reads the stages of a preset from 32-bit words: for each stage its behavior, its alphabet
// (the class of each code point) and its rules. pretok/machine/program.py and the `record`
// methods of pretok/rules write the words, both for built-in presets and for presets that users
// define.
#pragma once

#include "core/split/behavior.hpp"
#include "core/split/rules.hpp"
#include "core/unicode/alphabet.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pretok {

// The rules of a stage, and the alphabet whose classes the rules use.
struct Program {
  Alphabet alphabet;
  std::vector<Rule> rules;
};

struct StageProgram {
  Program program;
  Behavior behavior = Behavior::ISOLATED;
  bool invert = false;
};

// Returns an upper bound, at least 1, on the number of code points that a rule may read at one
// position without matching them. A run of code points that Text scans only once counts as 1.
// read_stages limits the sum over all rules, which bounds the time of a split. The rules in
// pretok/rules have a `look_ahead` with the same bound.
std::uint32_t look_ahead(const Rule &rule);

// Reads `size` words into `stages`, which must be empty. Returns an error message, or "" if
// there is no error.
std::string read_stages(const std::uint32_t *words, std::size_t size,
                        std::vector<StageProgram> &stages);
inline std::string read_stages(const std::vector<std::uint32_t> &words,
                               std::vector<StageProgram> &stages) {
  return read_stages(words.data(), words.size(), stages);
}

} // namespace pretok
