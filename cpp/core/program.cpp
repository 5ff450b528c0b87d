#include "program.hpp"

namespace pretok {
namespace {

constexpr std::uint32_t MAGIC = 0x70740001;
constexpr std::uint32_t MOST_RULES = 255;
constexpr std::uint32_t MOST_SEGMENTS = 1 << 16;
constexpr std::uint32_t LONGEST_SUFFIX = 255;

// Hands out words; past the end it hands out zeros and remembers.
class Words {
public:
  Words(const std::uint32_t *words, std::size_t size) : words_(words), size_(size) {}

  std::uint32_t next() {
    if (at_ < size_)
      return words_[at_++];
    ran_out_ = true;
    return 0;
  }
  std::size_t left() const { return size_ - at_; }
  bool ran_out() const { return ran_out_; }

private:
  const std::uint32_t *words_;
  std::size_t size_;
  std::size_t at_ = 0;
  bool ran_out_ = false;
};

bool read_contraction(Words &words, Contraction &rule) {
  rule.apostrophe = words.next();
  rule.ignore_case = words.next() != 0;
  const std::uint32_t count = words.next();
  if (count == 0 || count > MOST_RULES)
    return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t length = words.next();
    if (length == 0 || length > LONGEST_SUFFIX || length > words.left())
      return false;
    std::vector<std::uint32_t> suffix;
    for (std::uint32_t j = 0; j < length; ++j)
      suffix.push_back(words.next());
    rule.suffixes.push_back(suffix);
  }
  return true;
}

bool read_rule(Words &words, std::vector<Rule> &rules) {
  const auto kind = static_cast<Kind>(words.next());
  switch (kind) {
  case Kind::CONTRACTION: {
    Contraction rule;
    if (!read_contraction(words, rule))
      return false;
    rules.emplace_back(rule);
    return true;
  }
  case Kind::RUN: {
    Run rule;
    rule.body = words.next();
    rule.lead = words.next();
    rule.tail = words.next();
    rule.at_most = words.next();
    rules.emplace_back(rule);
    return (rule.lead & rule.body) == 0;
  }
  case Kind::CASED_WORD: {
    CasedWord rule;
    rule.upper = words.next();
    rule.lower = words.next();
    rule.lead = words.next();
    if (words.left() != 0) {
      Contraction suffix;
      if (!read_contraction(words, suffix))
        return false;
      rule.suffix = suffix;
    }
    rules.emplace_back(rule);
    return (rule.lead & (rule.upper | rule.lower)) == 0;
  }
  case Kind::SPACES: {
    Spaces rule;
    rule.space = words.next();
    rule.newline = words.next();
    const std::uint32_t through = words.next();
    rule.through = static_cast<Through>(through);
    rules.emplace_back(rule);
    return through <= static_cast<std::uint32_t>(Through::ALL);
  }
  }
  return false;
}

bool read_alphabet(Words &words, Alphabet &alphabet) {
  const std::uint32_t class_count = words.next();
  const std::uint32_t count = words.next();
  if (class_count == 0 || class_count > END || count == 0 || count > MOST_SEGMENTS)
    return false;
  for (std::uint32_t i = 0; i < count && !words.ran_out(); ++i) {
    AlphabetSegment segment{words.next(), {}};
    std::uint32_t word = 0;
    for (std::size_t atom = 0; atom < ATOM_COUNT; ++atom) {
      word = atom % 4 == 0 ? words.next() : word >> 8;
      segment.classes[atom] = static_cast<std::uint8_t>(word & 0xFF);
      if (segment.classes[atom] >= class_count)
        return false;
    }
    const bool ascending = i == 0 ? segment.first == 0 : segment.first > alphabet.back().first;
    if (!ascending || segment.first >= CODE_POINTS)
      return false;
    alphabet.push_back(segment);
  }
  return true;
}

} // namespace

const char *read_program(const std::uint32_t *words, std::size_t size, Program &program) {
  Words source(words, size);
  if (source.next() != MAGIC)
    return "not a pretok program of this version";
  if (!read_alphabet(source, program.alphabet))
    return "the alphabet of the program is malformed";
  const std::uint32_t rule_count = source.next();
  if (rule_count == 0 || rule_count > MOST_RULES)
    return "the program has no rules, or more than 255";
  for (std::uint32_t i = 0; i < rule_count; ++i) {
    const std::uint32_t length = source.next();
    if (length == 0 || length > source.left())
      return "the program is cut short";
    Words record(words + (size - source.left()), length);
    if (!read_rule(record, program.rules) || record.ran_out() || record.left() != 0)
      return "a rule of the program is malformed";
    for (std::uint32_t j = 0; j < length; ++j)
      source.next();
  }
  return source.ran_out() || source.left() != 0 ? "the program has the wrong length" : nullptr;
}

} // namespace pretok
