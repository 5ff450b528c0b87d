#include "machine.hpp"

namespace pretok {
namespace {

using Candidates = std::array<std::vector<int>, END + 1>;

Candidates candidates_of(const std::vector<Rule> &rules) {
  Candidates found;
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    const Mask first = std::visit([](const auto &kind) { return kind.first(); }, rules[rule]);
    for (std::uint8_t class_ = 0; class_ < END; ++class_)
      if (has(first, class_))
        found[class_].push_back(static_cast<int>(rule));
  }
  return found;
}

Mask letters_of(const Contraction &rule, const ClassTable &classes) {
  Mask found = 0;
  const auto add = [&](std::uint32_t code_point) { found |= Mask{1} << classes[code_point]; };
  for (const auto &suffix : rule.suffixes)
    for (const std::uint32_t letter : suffix) {
      if (letter < CODE_POINTS)
        add(letter);
      if (rule.ignore_case && letter >= 'a' && letter <= 'z')
        add(letter - 'a' + 'A');
      if (rule.ignore_case && letter == 's')
        add(LONG_S);
      if (rule.ignore_case && letter == 'k')
        add(KELVIN_SIGN);
    }
  return found;
}

std::vector<Rule> with_letters(std::vector<Rule> rules, const ClassTable &classes) {
  for (Rule &rule : rules) {
    if (auto *contraction = std::get_if<Contraction>(&rule))
      contraction->letters = letters_of(*contraction, classes);
    else if (auto *word = std::get_if<CasedWord>(&rule); word && word->suffix)
      word->suffix->letters = letters_of(*word->suffix, classes);
  }
  return rules;
}

} // namespace

Machine::Machine(const Program &program, UnicodeTable table)
    : classes_(program.alphabet, table), rules_(with_letters(program.rules, classes_)),
      candidates_(candidates_of(rules_)), cuts_(rules_, candidates_, classes_.used()) {
  for (const Rule &rule : rules_)
    if (const auto *spaces = std::get_if<Spaces>(&rule))
      spaces_ |= spaces->space;
}

} // namespace pretok
