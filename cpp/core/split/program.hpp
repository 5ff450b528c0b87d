// Stages: what each does, and the program of its rules over an alphabet of its own, read from
// 32-bit words.
//
// pretok/machine/program.py and the `record` methods of pretok/rules write the words; presets
// built in and presets made by users come the same way.
#pragma once

#include "core/split/behavior.hpp"
#include "core/split/rules.hpp"
#include "core/unicode/alphabet.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// The rules of a stage.
struct Program {
  Alphabet alphabet;
  std::vector<Rule> rules;
};

struct StageProgram {
  Program program;
  Behavior behavior = Behavior::ISOLATED;
  bool invert = false;
};

// Returns how many code points a rule may read at a position and then not take, at most; at
// least 1. A run that one scan serves counts as 1. The sum over all rules of a program is
// limited, which bounds the time that a text takes. pretok/rules has the same as `look_ahead`.
std::uint32_t look_ahead(const Rule &rule);

// Reads `size` words into `stages`, which is empty. Returns nullptr, or what is wrong with
// them.
const char *read_stages(const std::uint32_t *words, std::size_t size,
                        std::vector<StageProgram> &stages);

} // namespace pretok
