// Random texts and random programs, to compare ways of splitting.
#pragma once

#include "core/split/pre_tokenizer.hpp"
#include "core/split/presets.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace pretok {

using Random = std::mt19937;

// Parts of texts that are hard to split: letters of contractions, marks, digits, all types of
// white space, and finally bytes that are not UTF-8.
inline const char *const PARTS[] = {"a",
                                    "B",
                                    "s",
                                    "S",
                                    "t",
                                    "re",
                                    "'",
                                    "'ll",
                                    "1",
                                    "23",
                                    "4567",
                                    " ",
                                    "  ",
                                    "\n",
                                    "\r\n",
                                    "\t",
                                    "/",
                                    ".",
                                    "--",
                                    "!",
                                    "\xC3\xA9",
                                    "\xC3\x89",
                                    "\xC5\xBF",
                                    "\xCA\xB0",
                                    "\xCC\x81",
                                    "\xC2\xA0",
                                    "\xE4\xB8\xAD",
                                    "\xE3\x80\x80",
                                    "\xE3\x80\x87",
                                    "\xD9\xA3",
                                    "\xF0\x9F\x98\x80",
                                    "\xF0\x9D\x9F\x99",
                                    "\xF0\x90\x90\x80",
                                    "word",
                                    "HTTP",
                                    "Case",
                                    "\xE4",
                                    "\xB8",
                                    "\xFF"};

inline std::string random_text(Random &source, std::size_t parts) {
  std::string text;
  // Choose among a random number of PARTS. If the number is small, the same parts often meet.
  const std::size_t choices = 1 + source() % std::size(PARTS);
  const std::size_t first = source() % std::size(PARTS);
  for (; parts > 0; --parts)
    text += PARTS[(first + source() % choices) % std::size(PARTS)];
  return text;
}

// Returns padding to put before a text, so that the text begins at any position in a block, or
// near the end of a ClassBuffer.
inline std::string filler(Random &source) {
  static const char *const FILLERS[] = {"x", " ", "x ", "\n", ".", "\xE4\xB8\xAD", "7"};
  const std::size_t size =
      source() % 3 == 0 ? ClassBuffer::MAX_CODE_POINTS - source() % 80 : source() % 150;
  const char *const unit = FILLERS[source() % std::size(FILLERS)];
  std::string text;
  for (std::size_t i = 0; i < size; ++i)
    text += unit;
  return text;
}

// Returns a random text. Some rounds give long texts, or texts after padding.
inline std::string round_text(Random &source, int round) {
  std::string text = round % 4 == 0 ? filler(source) : "";
  return text + random_text(source, source() % (round % 10 == 0 ? 900 : 12));
}

// Returns a program with random rules over 2 to `max_classes` classes.
inline Program random_program(Random &source, std::size_t max_classes) {
  Program program;
  const std::size_t classes = 2 + source() % (max_classes - 1);
  const auto any_class = [&] { return static_cast<std::uint8_t>(source() % classes); };
  const auto any_set = [&] {
    return static_cast<Mask>(source() & source()) & ((Mask{2} << classes) - 1);
  };
  const auto segment = [&](std::uint32_t first) {
    AlphabetRange range{first, {}};
    for (std::uint8_t &class_ : range.class_map)
      class_ = any_class();
    program.alphabet.push_back(range);
  };
  for (std::uint32_t first = 0; first < 0x100;
       first += 1 + static_cast<std::uint32_t>(source()) % 9)
    segment(first);
  for (const std::uint32_t first :
       {0x17Fu, 0x2000u, 0x3000u, 0x3001u, 0x4E00u, 0xD800u, 0xE000u})
    segment(first);
  // Bytes that are not UTF-8 have a class of their own, which `space` below leaves out.
  // hostile_programs.cpp tests programs in which this class is white space.
  program.alphabet[program.alphabet.size() - 2].class_map.fill(
      static_cast<std::uint8_t>(classes));
  ClassTable table(program.alphabet, unicode_table("16.0"));
  const auto contraction = [&] {
    Contraction rule;
    rule.apostrophe = Mask{1} << table['\''];
    rule.ignore_case = source() % 2 == 0;
    for (std::size_t left = 1 + source() % 3; left != 0; --left)
      rule.suffixes.push_back(source() % 2 == 0 ? std::vector<std::uint32_t>{'s'}
                                                : std::vector<std::uint32_t>{'r', 'e'});
    return rule;
  };
  const Mask space = (any_set() | Mask{1} << table[' ']) & ~(Mask{1} << classes);
  const Mask newline = source() % 4 == 0 ? any_set() & space : Mask{1} << table['\n'];
  const auto but_space = [&](Mask set) { return source() % 4 == 0 ? set : set & ~space; };
  std::size_t groups = 0;
  for (std::size_t left = 1 + source() % 6; left != 0; --left)
    switch (source() % 9) {
    case 0:
      program.rules.emplace_back(contraction());
      break;
    case 1: {
      CasedWord rule;
      rule.upper = but_space(any_set());
      rule.lower = but_space(any_set());
      rule.lead = any_set() & ~(rule.upper | rule.lower);
      if (source() % 2 == 0 && !has(rule.upper | rule.lower, table['\'']))
        rule.suffix = contraction();
      program.rules.emplace_back(rule);
      break;
    }
    case 2: {
      Groups rule;
      rule.body = but_space(any_set());
      rule.stop = any_set() & ~rule.body;
      rule.size = 1 + static_cast<std::uint32_t>(source() % 4);
      rule.at_least = 1 + static_cast<std::uint32_t>(source() % rule.size);
      if (groups++ == 0)
        program.rules.emplace_back(rule);
      break;
    }
    case 3: {
      Phrase rule;
      rule.begin = but_space(any_set());
      rule.word = rule.begin | but_space(any_set());
      rule.joint = any_set() & ~rule.word;
      rule.lead = any_set() & ~rule.begin;
      program.rules.emplace_back(rule);
      break;
    }
    case 4: {
      static const LiteralText TEXTS[] = {{'a'}, {' ', ' '}, {'\n'}, {'1', '2'}, {'.', '/'}};
      if (source() % 2 == 0) {
        Literal rule;
        for (std::size_t number = 1 + source() % 3; number != 0; --number)
          rule.texts.push_back(TEXTS[source() % std::size(TEXTS)]);
        for (const LiteralText &text : rule.texts)
          for (std::size_t i = 0; i < text.size(); ++i)
            (i == 0 ? rule.begin : rule.rest) |= Mask{1} << table[text[i]];
        program.rules.emplace_back(rule);
        break;
      }
      Enclosed rule;
      rule.before = TEXTS[source() % std::size(TEXTS)];
      rule.after = TEXTS[source() % std::size(TEXTS)];
      for (std::size_t i = 0; i < rule.before.size(); ++i)
        (i == 0 ? rule.begin : rule.rest) |= Mask{1} << table[rule.before[i]];
      for (const std::uint32_t code_point : rule.after)
        rule.rest |= Mask{1} << table[code_point];
      rule.body = any_set() & ~rule.begin;
      rule.at_most = static_cast<std::uint32_t>(source() % 4);
      program.rules.emplace_back(rule);
      break;
    }
    default: {
      Run rule;
      rule.body = but_space(any_set());
      rule.lead = source() % 2 == 0 ? any_set() & ~rule.body : 0;
      rule.tail = source() % 2 == 0 ? 0 : source() % 2 == 0 ? newline : any_set();
      rule.at_most = source() % 2 == 0 ? 0 : static_cast<std::uint32_t>(source() % 5);
      rule.at_least = source() % 4 != 0 ? 1 : 1 + static_cast<std::uint32_t>(source() % 3);
      rule.tail_at_most = static_cast<std::uint32_t>(source() % 8 == 0);
      rule.lead_required = rule.lead != 0 && source() % 4 == 0;
      program.rules.emplace_back(rule);
    }
    }
  const auto spaces = [&](Through through) {
    Spaces rule{space, newline & space, through};
    const bool may_have_limit = through == Through::ALL_BUT_LAST || through == Through::ALL;
    if (source() % 8 == 0 && may_have_limit) {
      rule.at_most = 1 + static_cast<std::uint32_t>(source() % 4);
      rule.at_least = 1 + static_cast<std::uint32_t>(source() % rule.at_most);
    }
    return rule;
  };
  if (program.rules.empty())
    program.rules.emplace_back(spaces(Through::ALL));
  static const Through THROUGHS[] = {Through::END_OF_TEXT, Through::LAST_NEWLINE,
                                     Through::ALL_BUT_LAST, Through::ALL,
                                     Through::BEFORE_NEWLINE};
  for (const Through through : THROUGHS)
    if (source() % 4 != 0)
      program.rules.insert(source() % 4 == 0
                               ? program.rules.begin() + static_cast<std::ptrdiff_t>(
                                                             source() % program.rules.size())
                               : program.rules.end(),
                           spaces(through));
  return program;
}

// Returns a behavior that keeps all of the text; most often ISOLATED.
inline Behavior random_behavior(Random &source) {
  static const Behavior BEHAVIORS[] = {Behavior::MERGED_WITH_PREVIOUS,
                                       Behavior::MERGED_WITH_NEXT, Behavior::CONTIGUOUS};
  return source() % 5 != 0 ? Behavior::ISOLATED : BEHAVIORS[source() % 3];
}

// Returns up to four stages. Each stage has few classes: a program has a fast path only if its
// stages have at most 31 combinations of classes, one class of each stage.
inline std::vector<StageProgram> random_stages(Random &source) {
  std::vector<StageProgram> stages;
  const std::size_t count = 1 + source() % 4;
  const bool is_isolated = source() % 4 != 0;
  while (stages.size() < count)
    stages.push_back({random_program(source, count == 1   ? 14
                                             : count == 2 ? 5
                                                          : 2),
                      is_isolated ? Behavior::ISOLATED : random_behavior(source),
                      source() % 8 == 0});
  return stages;
}

// Returns two to four stages, each with the rules of a preset.
inline std::vector<StageProgram> mixed_stages(Random &source) {
  std::vector<StageProgram> stages;
  for (std::size_t left = 2 + source() % 3; left != 0; --left) {
    const Preset &preset = preset_at(source() % preset_count());
    std::vector<StageProgram> known;
    if (read_stages(preset.words(), known).empty())
      stages.push_back(known[source() % known.size()]);
    if (stages.back().behavior == Behavior::REMOVED)
      stages.back().behavior = Behavior::ISOLATED;
  }
  return stages;
}

// Returns random stages. A third of the numbers give stages with the rules of presets.
inline std::vector<StageProgram> numbered_stages(Random &source, int number) {
  return number % 3 == 0 ? mixed_stages(source) : random_stages(source);
}

// Calls check(name, tokenizer) for each preset and Unicode version. Returns the number
// of calls, or 0 if the words of a preset are invalid, or if a call returned false.
template <typename Check> std::size_t check_presets(Check check) {
  std::size_t passed = 0;
  for (std::size_t index = 0; index < preset_count(); ++index) {
    const Preset &preset = preset_at(index);
    std::vector<StageProgram> stages;
    const std::string error = read_stages(preset.words(), stages);
    if (!error.empty()) {
      std::printf("%s: %s\n", preset.names, error.c_str());
      return 0;
    }
    for (const char *version : {"15.0", "15.1", "16.0", "17.0", "18.0"}) {
      if (!check(preset.names, PreTokenizer(stages, unicode_table(version))))
        return 0;
      ++passed;
    }
  }
  return passed;
}

// Prints a text whose splits differ.
inline void print_bytes(const char *name, const char *what, const std::string &text) {
  std::printf("%s: %s on:", name, what);
  for (const char byte : text)
    std::printf(" %02X", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  std::printf("\n");
}

} // namespace pretok
