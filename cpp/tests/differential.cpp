// Compares the fast path with the plain machine, which applies the rules one by one. Uses
// random texts, every built-in preset, random programs, and each set of kernels (the
// implementations for an instruction set) that the processor can run.
#include "core/split/pre_tokenizer.hpp"
#include "core/split/presets.hpp"
#include "core/split/safe_cut.hpp"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace pretok;

// Parts of texts that are hard to split: letters of contractions, marks, digits, all types of
// white space, and finally bytes that are not UTF-8.
const char *const PARTS[] = {"a",
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

// Returns whether the fast path splits `source` like the plain machine, with every set of
// kernels.
template <typename Source> bool agree(const PreTokenizer &tokenizer, const Source &source) {
  std::vector<std::size_t> plain;
  tokenizer.steps(source, [&](std::size_t, std::size_t end, int) { plain.push_back(end); });
  if (tokenizer.removes()) {
    for (const Kernels *use : all_kernels()) {
      std::vector<std::size_t> fast;
      tokenizer.spans(source, *use,
                      [&](std::size_t, std::size_t end, int) { fast.push_back(end); });
      if (fast != plain)
        return false;
    }
    return true;
  }
  if (source.size() == 0 ? !plain.empty() : plain.back() != source.size())
    return false;
  for (const Kernels *use : all_kernels()) {
    std::vector<std::size_t> fast;
    split(
        tokenizer, source,
        [&](const std::size_t *ends, std::size_t count) {
          fast.insert(fast.end(), ends, ends + count);
        },
        *use);
    if (fast != plain || count(tokenizer, source, *use) != plain.size()) {
      std::printf("%s kernels, units of %zu bytes: ", use->name, sizeof(*source.data()));
      return false;
    }
  }
  return true;
}

// Calls agree() for `text` as UTF-8, and as arrays of 8-bit, 16-bit and 32-bit code points.
bool agree_on(const PreTokenizer &tokenizer, const std::string &text) {
  // Exact-size allocations let a sanitizer catch reads after their ends.
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  std::vector<std::uint16_t> narrow;
  std::vector<std::uint32_t> wide;
  for (std::size_t at = 0; at < bytes.size();) {
    const Decoded decoded = decode_utf8(bytes.data() + at, bytes.size() - at);
    narrow.push_back(static_cast<std::uint16_t>(decoded.code_point));
    wide.push_back(decoded.code_point);
    at += decoded.width;
  }
  const ClassTable &classes = tokenizer.classes();
  return agree(tokenizer, Utf8(bytes.data(), bytes.size(), classes)) &&
         agree(tokenizer, CodePoints<std::uint8_t>(bytes.data(), bytes.size(), classes)) &&
         agree(tokenizer, CodePoints<std::uint16_t>(narrow.data(), narrow.size(), classes)) &&
         agree(tokenizer, CodePoints<std::uint32_t>(wide.data(), wide.size(), classes));
}

using Random = std::mt19937;

// Returns the ends of the pre-tokens by the plain machine.
std::vector<std::size_t> plain_ends(const PreTokenizer &tokenizer, const std::uint8_t *data,
                                    std::size_t size) {
  std::vector<std::size_t> ends;
  tokenizer.steps(Utf8(data, size, tokenizer.classes()),
                  [&](std::size_t, std::size_t end, int) { ends.push_back(end); });
  return ends;
}

// Returns whether the cut that safe_cut finds in the first `known` bytes is safe for the whole
// text: the two parts, split separately, must have the pre-tokens of the whole text.
bool is_cut_safe(const PreTokenizer &tokenizer, const std::string &text, std::size_t known) {
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  const std::size_t cut = safe_cut(tokenizer, bytes.data(), known);
  if (cut == 0 || tokenizer.removes())
    return true;
  std::vector<std::size_t> apart = plain_ends(tokenizer, bytes.data(), cut);
  for (const std::size_t end : plain_ends(tokenizer, bytes.data() + cut, bytes.size() - cut))
    apart.push_back(cut + end);
  return cut <= known && apart == plain_ends(tokenizer, bytes.data(), bytes.size());
}

std::string random_text(Random &source, std::size_t parts) {
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
std::string filler(Random &source) {
  static const char *const FILLERS[] = {"x", " ", "x ", "\n", ".", "\xE4\xB8\xAD", "7"};
  const std::size_t size =
      source() % 3 == 0 ? ClassBuffer::MAX_CODE_POINTS - source() % 80 : source() % 150;
  const char *const unit = FILLERS[source() % std::size(FILLERS)];
  std::string text;
  for (std::size_t i = 0; i < size; ++i)
    text += unit;
  return text;
}

// Splits text[from, to) separately. Returns the ends of its pre-tokens, as offsets in `text`,
// without the ends after `last`.
std::vector<std::size_t> ends_of_part(const PreTokenizer &tokenizer,
                                      const std::vector<std::uint32_t> &text, std::size_t from,
                                      std::size_t to, std::size_t last) {
  std::vector<std::size_t> ends;
  tokenizer.steps(CodePoints<std::uint32_t>(text.data() + from, to - from, tokenizer.classes()),
                  [&](std::size_t, std::size_t end, int) {
                    if (from + end <= last)
                      ends.push_back(from + end);
                  });
  return ends;
}

// has_boundary() claims that a pre-token always ends between code points of two given classes.
// At each such place of `text`, one at a time, cuts the text into two parts. Returns whether
// the parts, split separately, always have the pre-tokens of the whole text. The first part is
// split together with the code point after the cut, on which its pre-tokens may depend.
bool cuts_hold(const PreTokenizer &tokenizer, const std::vector<std::uint32_t> &text) {
  const std::size_t size = text.size();
  const ClassTable &classes = tokenizer.classes();
  const std::vector<std::size_t> whole = ends_of_part(tokenizer, text, 0, size, size);
  for (std::size_t cut = 1; cut < size; ++cut) {
    if (!tokenizer.cuts()->has_boundary(classes[text[cut - 1]], classes[text[cut]]))
      continue;
    std::vector<std::size_t> both = ends_of_part(tokenizer, text, 0, cut + 1, cut);
    if (both.empty() || both.back() != cut)
      return false;
    for (const std::size_t end : ends_of_part(tokenizer, text, cut, size, size))
      both.push_back(end);
    if (both != whole)
      return false;
  }
  return true;
}

// Returns whether cuts_hold() is true for all texts of up to 6 code points, with one code point
// for each class. Leaves out the lengths that have more than `max_texts` texts.
bool cuts_hold_in_short_texts(const PreTokenizer &tokenizer, std::size_t max_texts) {
  if (tokenizer.cuts() == nullptr || tokenizer.removes())
    return true;
  std::vector<std::uint32_t> letters;
  Mask known = 0;
  for (std::uint32_t code_point = 0; code_point < 0x30000; ++code_point) {
    const Mask class_ = Mask{1} << tokenizer.classes()[code_point];
    if ((known & class_) == 0)
      letters.push_back(code_point);
    known |= class_;
  }
  std::size_t texts = letters.size();
  for (std::size_t size = 2; size <= 6; ++size) {
    texts *= letters.size();
    if (texts > max_texts)
      return true;
    std::vector<std::uint32_t> text(size);
    for (std::size_t number = 0; number < texts; ++number) {
      std::size_t left = number;
      for (std::uint32_t &code_point : text) {
        code_point = letters[left % letters.size()];
        left /= letters.size();
      }
      if (!cuts_hold(tokenizer, text))
        return false;
    }
  }
  return true;
}

bool agree_on_texts(const PreTokenizer &tokenizer, Random &source, int rounds,
                    const char *name) {
  for (int round = 0; round < rounds; ++round) {
    std::string text = round % 4 == 0 ? filler(source) : "";
    text += random_text(source, source() % (round % 10 == 0 ? 900 : 12));
    if (!agree_on(tokenizer, text) ||
        !is_cut_safe(tokenizer, text, text.empty() ? 0 : source() % text.size())) {
      std::printf("%s: the fast path, or a safe cut, differs on:", name);
      for (const char byte : text)
        std::printf(" %02X", static_cast<unsigned>(static_cast<unsigned char>(byte)));
      std::printf("\n");
      return false;
    }
  }
  return true;
}

// Tests every sequence of four BYTES, the limits of the ranges of bytes in well-formed UTF-8.
// The sequences are at the boundary of a block.
bool agree_on_sequences(const PreTokenizer &tokenizer) {
  static const unsigned char BYTES[] = {'a',  0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2,
                                        0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF};
  constexpr std::size_t KINDS = std::size(BYTES);
  for (std::size_t number = 0; number < KINDS * KINDS * KINDS * KINDS; ++number) {
    std::string text(58 + number % 7, 'a');
    for (std::size_t left = number, i = 0; i < 4; ++i, left /= KINDS)
      text += static_cast<char>(BYTES[left % KINDS]);
    if (number % 2 == 0)
      text += std::string(number % 70, '.');
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(text.data());
    if (!agree(tokenizer, Utf8(bytes, text.size(), tokenizer.classes()))) {
      std::printf("the fast path differs on sequence %zu\n", number);
      return false;
    }
  }
  return true;
}

// Returns a program with random rules over 2 to `max_classes` classes.
Program random_program(Random &source, std::size_t max_classes) {
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
    if (source() % 8 == 0 && through >= Through::ALL_BUT_LAST) {
      rule.at_most = 1 + static_cast<std::uint32_t>(source() % 4);
      rule.at_least = 1 + static_cast<std::uint32_t>(source() % rule.at_most);
    }
    return rule;
  };
  if (program.rules.empty())
    program.rules.emplace_back(spaces(Through::ALL));
  static const Through THROUGHS[] = {Through::END_OF_TEXT, Through::LAST_NEWLINE,
                                     Through::ALL_BUT_LAST, Through::ALL};
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
Behavior random_behavior(Random &source) {
  static const Behavior BEHAVIORS[] = {Behavior::MERGED_WITH_PREVIOUS,
                                       Behavior::MERGED_WITH_NEXT, Behavior::CONTIGUOUS};
  return source() % 5 != 0 ? Behavior::ISOLATED : BEHAVIORS[source() % 3];
}

// Returns up to four stages. Each stage has few classes: a program has a fast path only if its
// stages have at most 31 combinations of classes, one class of each stage.
std::vector<StageProgram> random_stages(Random &source) {
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
std::vector<StageProgram> mixed_stages(Random &source) {
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

} // namespace

// The argument is the number of random programs; the default is 1500.
int main(int count, char **arguments) {
  Random source(20261120);
  std::size_t passed = 0;
  for (std::size_t index = 0; index < preset_count(); ++index) {
    const Preset &preset = preset_at(index);
    std::vector<StageProgram> stages;
    const std::string error = read_stages(preset.words(), stages);
    if (!error.empty()) {
      std::printf("%s: %s\n", preset.names, error.c_str());
      return 1;
    }
    for (const char *version : {"15.0", "15.1", "16.0", "17.0", "18.0"}) {
      const PreTokenizer tokenizer(stages, unicode_table(version));
      if (!agree_on_texts(tokenizer, source, 700, preset.names))
        return 1;
      if (!cuts_hold_in_short_texts(tokenizer, index == 0 ? 300000 : 30000)) {
        std::printf("%s: a cut depends on more than two code points\n", preset.names);
        return 1;
      }
      ++passed;
    }
    if (index == 0 && !agree_on_sequences(PreTokenizer(stages, unicode_table("16.0"))))
      return 1;
  }
  const int programs = count > 1 ? std::atoi(arguments[1]) : 1500;
  std::size_t fast = 0; // programs of several stages with a fast path
  for (int number = 0; number < programs; ++number) {
    const bool is_mixed = number % 3 == 0;
    const std::vector<StageProgram> stages =
        is_mixed ? mixed_stages(source) : random_stages(source);
    const PreTokenizer tokenizer(stages, unicode_table("16.0"));
    if (!agree_on_texts(tokenizer, source, 40, "random stages") ||
        !cuts_hold_in_short_texts(tokenizer, 1000))
      return 1;
    fast += stages.size() > 1 && tokenizer.has_fast_path() ? 1 : 0;
    ++passed;
  }
  std::printf("%zu programs of several stages have a fast path\n", fast);
  std::printf("%zu programs passed, 0 failed, with kernels", passed);
  for (const Kernels *use : all_kernels())
    std::printf(" %s", use->name);
  std::printf("\n");
  return 0;
}
