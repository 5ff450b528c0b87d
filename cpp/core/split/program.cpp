#include "core/split/program.hpp"

#include <utility>
#include <variant>

namespace pretok {
namespace {

constexpr std::uint32_t MAGIC = 0x70740002;
constexpr std::uint32_t MAX_STAGES = 16;
constexpr std::uint32_t MAX_RULES = 255;
constexpr std::uint32_t MAX_RANGES = 1 << 16;
constexpr std::uint32_t MAX_TEXT = 255;
constexpr std::uint32_t MAX_COUNT = 0x7FFFFFFF;
// The limit on the sum of look_ahead() over the rules of all stages.
constexpr std::uint32_t MAX_LOOK_AHEAD = 4096;

// Reads the words of a program. If no word is left, next() returns 0, and ran_out() is true
// from then on. is_complete() is true if all words were read, next() never ran out of words,
// and every mask had only bits of `classes`.
class ProgramReader {
public:
  ProgramReader(const std::uint32_t *words, std::size_t size, Mask classes = 0)
      : words_(words), size_(size), classes_(classes) {}

  std::uint32_t next() {
    if (at_ < size_)
      return words_[at_++];
    ran_out_ = true;
    return 0;
  }
  Mask mask() {
    const Mask mask = next();
    has_foreign_class_ |= (mask & ~classes_) != 0;
    return mask;
  }
  std::size_t left() const { return size_ - at_; }
  bool ran_out() const { return ran_out_; }
  bool is_complete() const { return !ran_out_ && !has_foreign_class_ && left() == 0; }

private:
  const std::uint32_t *words_;
  std::size_t size_;
  Mask classes_;
  std::size_t at_ = 0;
  bool ran_out_ = false;
  bool has_foreign_class_ = false;
};

// Each read_ function that returns a bool returns false if the words are not valid.
bool read_text(ProgramReader &words, LiteralText &text) {
  const std::uint32_t length = words.next();
  if (length == 0 || length > MAX_TEXT || length > words.left())
    return false;
  for (std::uint32_t i = 0; i < length; ++i) {
    text.push_back(words.next());
    if (text.back() >= CODE_POINTS)
      return false;
  }
  return true;
}

// Returns whether 1 <= at_least <= at_most. An `at_most` of 0 means no limit.
bool are_counts(std::uint32_t at_most, std::uint32_t at_least) {
  return at_least != 0 && at_least <= (at_most == 0 ? MAX_COUNT : at_most) &&
         at_most <= MAX_COUNT;
}

bool read_literal_texts(ProgramReader &words, std::vector<LiteralText> &texts) {
  const std::uint32_t count = words.next();
  if (count == 0 || count > MAX_LOOK_AHEAD)
    return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    texts.emplace_back();
    if (!read_text(words, texts.back()))
      return false;
  }
  return true;
}

bool read_contraction(ProgramReader &words, Contraction &rule) {
  rule.apostrophe = words.mask();
  rule.ignore_case = words.next() != 0;
  if (!read_literal_texts(words, rule.suffixes))
    return false;
  // Suffixes consist of ASCII letters. If `ignore_case` is true, they must be lower-case
  // letters.
  for (const LiteralText &suffix : rule.suffixes)
    for (const std::uint32_t letter : suffix)
      if ((letter < 'a' || letter > 'z') && (rule.ignore_case || letter < 'A' || letter > 'Z'))
        return false;
  return true;
}

bool read_rule(ProgramReader &words, std::vector<Rule> &rules) {
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
    rule.body = words.mask();
    rule.lead = words.mask();
    rule.tail = words.mask();
    rule.at_most = words.next();
    rule.at_least = words.next();
    rule.tail_at_most = words.next();
    rule.lead_required = words.next() != 0;
    rules.emplace_back(rule);
    return (rule.lead & rule.body) == 0 && are_counts(rule.at_most, rule.at_least) &&
           rule.tail_at_most <= MAX_COUNT;
  }
  case Kind::CASED_WORD: {
    CasedWord rule;
    rule.upper = words.mask();
    rule.lower = words.mask();
    rule.lead = words.mask();
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
    rule.space = words.mask();
    rule.newline = words.mask();
    const std::uint32_t through = words.next();
    rule.through = static_cast<Through>(through);
    rule.at_most = words.next();
    rule.at_least = words.next();
    rules.emplace_back(rule);
    // Only ALL_BUT_LAST and ALL can have a limit.
    const bool has_limit = rule.at_most != 0 || rule.at_least != 1;
    const bool may_have_limit =
        rule.through == Through::ALL_BUT_LAST || rule.through == Through::ALL;
    return through <= static_cast<std::uint32_t>(Through::BEFORE_NEWLINE) &&
           (rule.newline & ~rule.space) == 0 &&
           (!has_limit ||
            (may_have_limit && rule.at_most != 0 && are_counts(rule.at_most, rule.at_least)));
  }
  case Kind::LITERAL: {
    Literal rule;
    rule.begin = words.mask();
    rule.rest = words.mask();
    if (!read_literal_texts(words, rule.texts))
      return false;
    rules.emplace_back(rule);
    return true;
  }
  case Kind::ENCLOSED: {
    Enclosed rule;
    rule.begin = words.mask();
    rule.rest = words.mask();
    rule.body = words.mask();
    rule.at_most = words.next();
    rule.at_least = words.next();
    if (!read_text(words, rule.before) || !read_text(words, rule.after))
      return false;
    rules.emplace_back(rule);
    // If a class of `body` can begin `before`, the rule may scan a run of `body` again from
    // each position of the run. Without a limit these scans take quadratic time.
    if ((rule.begin & rule.body) != 0 && (rule.at_most == 0 || rule.at_most > MAX_TEXT))
      return false;
    return are_counts(rule.at_most, rule.at_least);
  }
  case Kind::GROUPS: {
    Groups rule;
    rule.body = words.mask();
    rule.stop = words.mask();
    rule.size = words.next();
    rule.at_least = words.next();
    rules.emplace_back(rule);
    return rule.size != 0 && are_counts(rule.size, rule.at_least);
  }
  case Kind::PHRASE: {
    Phrase rule;
    rule.begin = words.mask();
    rule.word = words.mask();
    rule.joint = words.mask();
    rule.lead = words.mask();
    rules.emplace_back(rule);
    return (rule.begin & ~rule.word) == 0 && (rule.joint & rule.word) == 0 &&
           (rule.lead & rule.begin) == 0;
  }
  }
  return false;
}

std::uint32_t total_size(const std::vector<LiteralText> &texts) {
  std::uint32_t size = 0;
  for (const LiteralText &text : texts)
    size += static_cast<std::uint32_t>(text.size());
  return size;
}

// Checks that the rules of a stage can share the memos of Text: there is at most one Groups
// rule, and all Spaces rules have equal classes. Returns nullptr, or the error in a stage.
const char *check_memos(const std::vector<Rule> &rules) {
  const Spaces *first = nullptr;
  bool has_groups = false;
  for (const Rule &rule : rules) {
    const auto *spaces = std::get_if<Spaces>(&rule);
    if (first == nullptr)
      first = spaces;
    if (spaces != nullptr &&
        (spaces->space != first->space || spaces->newline != first->newline))
      return "has Spaces rules with different white space; use the same character sets in all "
             "of them";
    const bool is_groups = std::holds_alternative<Groups>(rule);
    if (is_groups && has_groups)
      return "has two rules for groups";
    has_groups |= is_groups;
  }
  return nullptr;
}

bool read_alphabet(ProgramReader &words, Alphabet &alphabet, std::uint32_t &class_count) {
  class_count = words.next();
  const std::uint32_t count = words.next();
  if (class_count == 0 || class_count > END || count == 0 || count > MAX_RANGES)
    return false;
  for (std::uint32_t i = 0; i < count && !words.ran_out(); ++i) {
    AlphabetRange range{words.next(), {}};
    std::uint32_t word = 0;
    for (std::size_t atom = 0; atom < ATOM_COUNT; ++atom) {
      word = atom % 4 == 0 ? words.next() : word >> 8;
      range.class_map[atom] = static_cast<std::uint8_t>(word & 0xFF);
      if (range.class_map[atom] >= class_count)
        return false;
    }
    const bool is_ascending = i == 0 ? range.start == 0 : range.start > alphabet.back().start;
    if (!is_ascending || range.start >= CODE_POINTS)
      return false;
    alphabet.push_back(range);
  }
  return true;
}

// The stage and the rule that are being read, counted from 1; 0 for none.
struct Place {
  std::uint32_t stage = 0;
  std::uint32_t rule = 0;
};

// Reads the alphabet and the rules of one stage from `source`, whose words end at `end`. Adds
// look_ahead() of each rule to `total_look_ahead`. Returns nullptr, or the error at `place`.
const char *read_program(ProgramReader &source, const std::uint32_t *end, Program &program,
                         std::uint32_t &total_look_ahead, Place &place) {
  std::uint32_t class_count = 0;
  if (!read_alphabet(source, program.alphabet, class_count))
    return "has a malformed alphabet";
  const std::uint32_t rule_count = source.next();
  if (rule_count == 0 || rule_count > MAX_RULES)
    return "must have 1 to 255 rules";
  for (std::uint32_t i = 0; i < rule_count; ++i) {
    place.rule = i + 1;
    const std::uint32_t length = source.next();
    if (length == 0 || length > source.left())
      return "is cut short";
    ProgramReader record(end - source.left(), length, (Mask{1} << class_count) - 1);
    if (!read_rule(record, program.rules) || !record.is_complete())
      return "is malformed";
    total_look_ahead += look_ahead(program.rules.back());
    if (total_look_ahead > MAX_LOOK_AHEAD)
      return "brings the look-ahead of all rules above 4096 code points; shorten the literal "
             "texts or "
             "lower the counts";
    for (std::uint32_t j = 0; j < length; ++j)
      source.next();
  }
  place.rule = 0;
  if (const char *error = check_memos(program.rules))
    return error;
  return source.is_complete() ? nullptr : "has the wrong length";
}

// Does the work of read_stages. Returns nullptr, or the error at `place`.
const char *read_stages_at(const std::uint32_t *words, std::size_t size,
                           std::vector<StageProgram> &stages, Place &place) {
  ProgramReader source(words, size);
  if (source.next() != MAGIC)
    return "the words are not a program of this version of pretok";
  const std::uint32_t count = source.next();
  if (count == 0 || count > MAX_STAGES)
    return "expected 1 to 16 stages";
  std::uint32_t total_look_ahead = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    place.stage = i + 1;
    StageProgram stage;
    const std::uint32_t behavior = source.next();
    stage.behavior = static_cast<Behavior>(behavior);
    stage.invert = source.next() != 0;
    const std::uint32_t length = source.next();
    if (behavior > static_cast<std::uint32_t>(Behavior::CONTIGUOUS) || length > source.left())
      return "is malformed";
    const std::uint32_t *begin = words + (size - source.left());
    ProgramReader stage_words(begin, length);
    if (const char *error =
            read_program(stage_words, begin + length, stage.program, total_look_ahead, place))
      return error;
    for (std::uint32_t j = 0; j < length; ++j)
      source.next();
    stages.push_back(std::move(stage));
  }
  place.stage = 0;
  return source.is_complete() ? nullptr : "the stages have the wrong length";
}

} // namespace

std::uint32_t look_ahead(const Rule &rule) {
  if (const auto *run = std::get_if<Run>(&rule))
    return run->at_least;
  if (const auto *spaces = std::get_if<Spaces>(&rule))
    return spaces->at_least;
  if (const auto *contraction = std::get_if<Contraction>(&rule))
    return 1 + total_size(contraction->suffixes);
  if (const auto *word = std::get_if<CasedWord>(&rule))
    return word->suffix ? 2 + total_size(word->suffix->suffixes) : 1;
  if (const auto *literal = std::get_if<Literal>(&rule))
    return total_size(literal->texts);
  if (const auto *enclosed = std::get_if<Enclosed>(&rule))
    return static_cast<std::uint32_t>(enclosed->before.size() + enclosed->after.size()) +
           ((enclosed->begin & enclosed->body) != 0 ? enclosed->at_most : 0);
  return 1;
}

std::string read_stages(const std::uint32_t *words, std::size_t size,
                        std::vector<StageProgram> &stages) {
  Place place;
  const char *error = read_stages_at(words, size, stages, place);
  if (error == nullptr)
    return {};
  std::string message;
  const auto add = [&message](const char *name, std::uint32_t number, const char *after) {
    if (number != 0)
      message.append(name).append(std::to_string(number)).append(after);
  };
  add("rule ", place.rule, " of ");
  add("stage ", place.stage, " ");
  return message.append(error);
}

} // namespace pretok
