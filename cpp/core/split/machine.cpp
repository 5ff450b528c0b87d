#include "core/split/machine.hpp"

namespace pretok {
namespace {

Candidates candidates_by_class(const std::vector<Rule> &rules) {
  Candidates candidates;
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    const Mask first = std::visit([](const auto &kind) { return kind.first(); }, rules[rule]);
    for (std::uint8_t class_ = 0; class_ < END; ++class_)
      if (has(first, class_))
        candidates[class_].push_back(static_cast<int>(rule));
  }
  return candidates;
}

// Sets the masks of a Contraction: the class of the apostrophe, and the classes of the code
// points that its suffixes match.
void find_classes(Contraction &rule, const ClassTable &classes) {
  rule.apostrophe = Mask{1} << classes['\''];
  const auto add = [&](std::uint32_t code_point) {
    rule.letters |= Mask{1} << classes[code_point];
  };
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
}

// Returns the classes of the code points of `text` from index `from` on.
Mask literal_classes(const LiteralText &text, std::size_t from, const ClassTable &classes) {
  Mask mask = 0;
  for (; from < text.size(); ++from)
    if (text[from] < CODE_POINTS)
      mask |= Mask{1} << classes[text[from]];
  return mask;
}

// Returns the rules with the classes of their literal texts. The fast path relies on these
// classes, and a program may state wrong ones. So this function computes the classes from the
// texts. (Literal::begin and Enclosed::begin come from the program. If they are wrong, the
// machine only fails to try the rule.)
std::vector<Rule> with_classes(std::vector<Rule> rules, const ClassTable &classes) {
  for (Rule &rule : rules) {
    if (auto *contraction = std::get_if<Contraction>(&rule)) {
      find_classes(*contraction, classes);
    } else if (auto *word = std::get_if<CasedWord>(&rule); word && word->suffix) {
      find_classes(*word->suffix, classes);
    } else if (auto *literal = std::get_if<Literal>(&rule)) {
      for (const LiteralText &text : literal->texts)
        literal->rest |= literal_classes(text, 1, classes);
    } else if (auto *enclosed = std::get_if<Enclosed>(&rule)) {
      enclosed->rest |= literal_classes(enclosed->before, 1, classes) |
                        literal_classes(enclosed->after, 0, classes);
    }
  }
  return rules;
}

} // namespace

Machine::Machine(const std::vector<Rule> &rules, std::shared_ptr<const ClassTable> classes)
    : classes_(std::move(classes)), rules_(with_classes(rules, *classes_)),
      candidates_(candidates_by_class(rules_)) {
  for (const Rule &rule : rules_)
    if (const auto *spaces = std::get_if<Spaces>(&rule))
      spaces_ |= spaces->space;
}

} // namespace pretok
