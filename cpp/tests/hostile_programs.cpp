// Tests malicious programs. A program is an array of words that encodes the rules of a
// pre-tokenizer. The reader must refuse a program unless it splits texts in linear time and
// within its memory.
#include "tests/counted_text.hpp"

#include <cstdio>
#include <initializer_list>
#include <string>
#include <vector>

namespace {

using namespace pretok;

// The words of a rule: its kind, then its fields in this order (program.cpp reads them):
//   0 contraction: apostrophe, ignore_case, suffixes
//   1 run: body, lead, tail, at_most, at_least, tail_at_most, lead_required
//   2 cased word: upper, lower, lead, and perhaps the fields of a contraction
//   3 spaces: space, newline, through, at_most, at_least
//   4 literal: begin, rest, texts
//   5 enclosed: begin, rest, body, at_most, at_least, before, after
//   6 groups: body, stop, size, at_least
//   7 phrase: begin, word, joint, lead
// A list of texts begins with the number of texts, and each text with its length.
using Record = std::vector<std::uint32_t>;

int failures = 0;

void check(bool holds, const char *what) {
  if (!holds) {
    std::printf("FAILED: %s\n", what);
    ++failures;
  }
}

// Masks of classes. Class 1 is `a`, class 2 is `c`, class 3 is `q`, class 0 is any other code
// point.
constexpr std::uint32_t A = 1 << 1;
constexpr std::uint32_t C = 1 << 2;
constexpr std::uint32_t OTHER = 1 << 0;

Alphabet alphabet() {
  Alphabet ranges;
  const auto add = [&ranges](std::uint32_t first, std::uint8_t class_) {
    AlphabetRange range{first, {}};
    range.class_map.fill(class_);
    ranges.push_back(range);
  };
  std::uint8_t number = 0;
  add(0, 0);
  for (const std::uint32_t letter : {0x61U, 0x63U, 0x71U}) { // a, c, q
    add(letter, ++number);
    add(letter + 1, 0);
  }
  return ranges;
}

// Returns a program with `stages` copies of a stage with these rules.
Record words_of(const std::vector<Record> &rules, std::uint32_t stages = 1) {
  Record stage{4};
  const Alphabet ranges = alphabet();
  stage.push_back(static_cast<std::uint32_t>(ranges.size()));
  for (const AlphabetRange &range : ranges) {
    stage.push_back(range.start);
    for (std::size_t word = 0; word < 4; ++word)
      stage.push_back(range.class_map[0] * std::uint32_t{0x01010101});
    stage.push_back(range.class_map[0]);
  }
  stage.push_back(static_cast<std::uint32_t>(rules.size()));
  for (const Record &rule : rules) {
    stage.push_back(static_cast<std::uint32_t>(rule.size()));
    stage.insert(stage.end(), rule.begin(), rule.end());
  }
  Record words{0x70740002, stages};
  for (std::uint32_t i = 0; i < stages; ++i) {
    words.insert(words.end(), {0, 0, static_cast<std::uint32_t>(stage.size())});
    words.insert(words.end(), stage.begin(), stage.end());
  }
  return words;
}

Record literal(std::uint32_t texts, std::uint32_t length) {
  Record rule{4, A, A | C, texts};
  for (std::uint32_t i = 0; i < texts; ++i) {
    rule.push_back(length);
    rule.insert(rule.end(), length - 1, 'a');
    rule.push_back('c');
  }
  return rule;
}

Record contraction(std::initializer_list<std::uint32_t> suffix, std::uint32_t ignore_case = 0) {
  Record rule{0, OTHER, ignore_case, 1, static_cast<std::uint32_t>(suffix.size())};
  rule.insert(rule.end(), suffix);
  return rule;
}

void check_reader() {
  constexpr std::uint32_t ALL = 3;
  constexpr std::uint32_t FAR = 4'000'000'000;
  struct Case {
    std::vector<Record> rules;
    std::uint32_t stages;
    const char *error; // part of the message, or nullptr if the reader accepts the program
  };
  const char *const AHEAD = "above 4096 code points";
  const char *const MALFORMED = "rule 1 of stage 1 is malformed";
  const char *const SPACES = "Spaces rules with different white space";
  const std::vector<Case> cases = {
      {{{3, C, 0, ALL, 0, 1},
        {3, A | C, 0, ALL, 1, 1},
        literal(1, 3),
        {1, 1, 0, 0, 0, 1, 0, 0}},
       1,
       SPACES},
      {{{3, C, C, ALL, 0, 1}, {3, C, 0, ALL, 0, 1}}, 1, SPACES},
      {{{3, C, C, ALL, 0, 1}, {3, C, C, 1, 0, 1}}, 1, nullptr},
      {{{1, A, 0, 0, 0, FAR, 0, 0}}, 1, MALFORMED},
      {{{1, A, 0, 0, 0, 4097, 0, 0}}, 1, AHEAD},
      {{{1, A, 0, 0, 0, 4096, 0, 0}}, 1, nullptr},
      {{{1, A, 0, 0, 0, 257, 0, 0}}, 16, AHEAD},
      {{{1, A, 0, 0, 0, 256, 0, 0}}, 16, nullptr},
      {{{1, A, 0, 0, FAR, 1, 0, 0}}, 1, MALFORMED},
      {{{1, A, 0, C, 0, 1, FAR, 0}}, 1, MALFORMED},
      {{{1, A, 0, C, 0x7FFFFFFF, 1, 0x7FFFFFFF, 0}}, 1, nullptr},
      {{{3, C, 0, ALL, 1U << 31, 1U << 31}}, 1, MALFORMED},
      {{{3, C, 0, ALL, 0x7FFFFFFF, 0x7FFFFFFF}}, 1, AHEAD},
      {{literal(255, 255)}, 1, AHEAD},
      {{literal(16, 255)}, 1, nullptr},
      {{literal(2048, 2)}, 1, nullptr},
      {{literal(2049, 2)}, 1, AHEAD},
      {{literal(16, 255), literal(1, 17)}, 1, AHEAD},
      {{{4, A, 0, 1, 1, CODE_POINTS}}, 1, MALFORMED},
      {{{5, A, C, A, 255, 1, 1, 'a', 1, 'c'}}, 15, nullptr},
      {{{5, A, C, A, 255, 1, 1, 'a', 1, 'c'}}, 16, AHEAD},
      {{{6, A, 0, FAR, 1}}, 1, MALFORMED},
      {{contraction({'s'})}, 1, nullptr},
      {{contraction({'S'})}, 1, nullptr},
      {{contraction({'S'}, 1)}, 1, MALFORMED},
      {{contraction({'a', '\''})}, 1, MALFORMED},
  };
  for (const Case &each : cases) {
    const Record words = words_of(each.rules, each.stages);
    std::vector<StageProgram> stages;
    const std::string error = read_stages(words.data(), words.size(), stages);
    const bool as_expected =
        each.error == nullptr ? error.empty() : error.find(each.error) != std::string::npos;
    if (!as_expected)
      std::printf("case %td: expected %s, got %s\n", &each - cases.data(),
                  each.error == nullptr ? "no error" : each.error,
                  error.empty() ? "no error" : error.c_str());
    check(as_expected, "the reader accepts or refuses each program as expected");
  }
}

std::string repeated(const std::string &unit, std::size_t times) {
  std::string text;
  for (; times != 0; --times)
    text += unit;
  return text;
}

Utf8 source_of(const PreTokenizer &tokenizer, const std::string &text) {
  return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size(),
          tokenizer.classes()};
}

// Builds a program that the reader would refuse: its two Spaces rules have different classes.
// Its splits are wrong, but all ends must be in order and within the text.
void check_refused_rules() {
  Literal word;
  word.begin = A;
  word.texts = {{'a', 'c', 'q'}};
  StageProgram stage;
  stage.program = {
      alphabet(),
      {Spaces{C, 0, Through::ALL}, Spaces{A | C, 0, Through::ALL, 1}, word, Run{OTHER}}};
  const PreTokenizer tokenizer({stage}, unicode_table("16.0"));
  for (const std::size_t size : {2U, 500U, 511U, 512U, 513U, 1000U, 5000U, 200'000U})
    for (const Kernels *use : all_kernels()) {
      const std::string text = "x" + repeated("ac", size) + "xx" + repeated("ca", size / 2);
      std::size_t last = 0;
      bool in_order = true;
      split(
          tokenizer, source_of(tokenizer, text),
          [&](const std::size_t *ends, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) {
              in_order = in_order && ends[i] > last && ends[i] <= text.size();
              last = ends[i];
            }
          },
          *use);
      check(in_order && last == text.size(), "the ends are in order and within the text");
    }
}

// A program may use the class of bytes that are not UTF-8 as white space. Each such byte is one
// code point.
void check_ill_formed_white_space() {
  constexpr std::uint32_t ALL_BUT_LAST = 2;
  constexpr std::uint32_t ALL = 3;
  const Record words = words_of({{3, OTHER, 0, ALL_BUT_LAST, 0, 1}, {3, OTHER, 0, ALL, 0, 1}});
  std::vector<StageProgram> stages;
  if (!read_stages(words.data(), words.size(), stages).empty())
    return check(false, "the reader accepts white space of any class");
  const PreTokenizer tokenizer(stages, unicode_table("16.0"));
  struct Case {
    const char *text;
    std::vector<std::size_t> ends;
  };
  const std::vector<Case> cases = {
      {"\xED\xA0\x80q", {2, 3, 4}},         {"\x80\x80\x80\x80\x80q", {4, 5, 6}},
      {"\xC3\xA9\x80q", {2, 3, 4}},         {" \xF0\x9F\x98q", {3, 4, 5}},
      {"\x80\x80\x80\xC3\xA9q", {3, 5, 6}}, {" \xE4\xB8\xADq", {1, 4, 5}},
      {"\x80\xF0\x9F\x98\x80q", {1, 5, 6}},
  };
  for (const Case &each : cases) {
    const std::string text = each.text;
    std::vector<std::size_t> ends;
    tokenizer.steps(source_of(tokenizer, text),
                    [&ends](std::size_t, std::size_t end, int) { ends.push_back(end); });
    check(ends == each.ends, "the last code point of white space is split off");
    for (const Kernels *use : all_kernels()) {
      ends.clear();
      split(
          tokenizer, source_of(tokenizer, text),
          [&ends](const std::size_t *buffered, std::size_t count) {
            ends.insert(ends.end(), buffered, buffered + count);
          },
          *use);
      check(ends == each.ends, "kernels split off the last code point of white space");
    }
  }
}

// For each program, one of the texts makes a rule read far before it fails, or fail often.
void check_work() {
  constexpr std::uint32_t ALL_BUT_LAST = 2;
  const std::vector<std::vector<Record>> programs = {
      {{1, A, 0, 0, 0, 100, 0, 0}, {1, A | C, 0, 0, 1, 1, 0, 0}},
      {{1, A, C, C, 3, 2, 2, 1}, {1, C, A, 0, 0, 7, 0, 1}},
      {{2, A, C, 0}, {1, A, 0, 0, 1, 1, 0, 0}},
      {{2, A | C, C, OTHER, OTHER, 0, 1, 1, 's'}},
      {{3, A, 0, 0, 0, 1}, {3, A, 0, 1, 0, 1}, {3, A, 0, ALL_BUT_LAST, 9, 8}},
      {{3, A | C, C, 1, 0, 1}, {3, A | C, C, 0, 0, 1}, {1, OTHER, 0, 0, 0, 1, 0, 0}},
      {literal(9, 8)},
      {{5, A, C, A, 20, 1, 1, 'a', 1, 'q'}},
      {{5, C, C, A, 0, 1, 1, 'c', 1, 'q'}},
      {{6, A, C, 3, 3}, {1, C, 0, 0, 1, 1, 0, 0}},
      {{6, A | C, OTHER, 1, 1}, {1, C, 0, 0, 1, 1, 0, 0}},
      {{7, A, A, C, OTHER}, {7, C, C, A, 0}},
  };
  for (const std::vector<Record> &rules : programs) {
    const Record words = words_of(rules);
    std::vector<StageProgram> stages;
    if (words.empty() || !read_stages(words.data(), words.size(), stages).empty()) {
      check(false, "the reader accepts a program that is linear");
      continue;
    }
    const PreTokenizer tokenizer(stages, unicode_table("16.0"));
    for (const char *unit : {"a", "c", "ac", "aca", "aaaaaaac", "xa", "'sa"})
      for (const char *end : {"", "x", "q", "c"}) {
        const std::string text = repeated(unit, 5'000) + end;
        const std::uint64_t most = max_reads_per_code_point(stages) * text.size();
        for (const Kernels *use : all_kernels())
          check(reads_of(tokenizer, source_of(tokenizer, text), *use) <= most,
                "the work at a code point is bounded");
      }
  }
}

} // namespace

int main() {
  check_reader();
  check_refused_rules();
  check_ill_formed_white_space();
  check_work();
  std::printf("%s\n", failures == 0 ? "passed" : "failed");
  return failures == 0 ? 0 : 1;
}
