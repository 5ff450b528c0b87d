// A program: the rules of a preset over an alphabet of its own, read from 32-bit words.
//
// pretok/program.py and the `record` methods of pretok/rules.py write the words; presets built
// in and presets made by users come the same way.
#pragma once

#include "alphabet.hpp"
#include "rules.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

struct Program {
  Alphabet alphabet;
  std::vector<Rule> rules;
};

// Reads `size` words into `program`. Returns nullptr, or what is wrong with them.
const char *read_program(const std::uint32_t *words, std::size_t size, Program &program);

} // namespace pretok
