// Tests the places at which a text may be cut: the two parts, split separately, must have the
// pre-tokens of the whole text. Uses random texts, short texts of all classes, every built-in
// preset and random programs.
#include "core/split/safe_cut.hpp"
#include "tests/random_splits.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace pretok;

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

// Returns whether cutting `text` at `cut` changes at most the pre-token that holds the cut. The
// cut is a joint, and `whole` has the ends of the pre-tokens.
bool joint_holds(const PreTokenizer &tokenizer, const std::vector<std::uint32_t> &text,
                 const std::vector<std::size_t> &whole, std::size_t cut) {
  std::vector<std::size_t> both = ends_of_part(tokenizer, text, 0, cut, cut);
  for (const std::size_t end : ends_of_part(tokenizer, text, cut, text.size(), text.size()))
    both.push_back(end);
  if (std::find(whole.begin(), whole.end(), cut) == whole.end())
    both.erase(std::find(both.begin(), both.end(), cut));
  return both == whole;
}

// has_boundary() claims that a pre-token always ends between code points of two given classes.
// At each such place of `text`, one at a time, cuts the text into two parts. Returns whether
// the parts, split separately, always have the pre-tokens of the whole text. The first part is
// split together with the code point after the cut, on which its pre-tokens may depend. Also
// tests what is_joint() claims, and adds the number of these places to `joints`.
bool cuts_hold(const PreTokenizer &tokenizer, const std::vector<std::uint32_t> &text,
               std::size_t &joints) {
  const std::size_t size = text.size();
  const ClassTable &classes = tokenizer.classes();
  const std::vector<std::size_t> whole = ends_of_part(tokenizer, text, 0, size, size);
  for (std::size_t cut = 1; cut < size; ++cut) {
    const std::uint8_t before = classes[text[cut - 1]];
    const std::uint8_t after = classes[text[cut]];
    if (tokenizer.is_joint(before, after)) {
      if (!joint_holds(tokenizer, text, whole, cut))
        return false;
      ++joints;
    }
    if (!tokenizer.cuts()->has_boundary(before, after))
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
bool cuts_hold_in_short_texts(const PreTokenizer &tokenizer, std::size_t max_texts,
                              std::size_t &joints) {
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
      if (!cuts_hold(tokenizer, text, joints))
        return false;
    }
  }
  return true;
}

// Returns a Run whose tail takes one of the two classes of its body. In "xtaax" the tail has
// both "a", but a text that begins with the second one has an "x" in the same Run.
PreTokenizer run_with_body_in_its_tail() {
  Program program;
  const auto add = [&](std::uint32_t first, std::uint8_t class_) {
    AlphabetRange range{first, {}};
    range.class_map.fill(class_);
    program.alphabet.push_back(range);
  };
  add(0, 0); // "a"
  add('t', 1);
  add('u', 0);
  add('x', 2);
  Run rule;
  rule.body = 1 << 0 | 1 << 2;
  rule.tail = 1 << 0 | 1 << 1;
  program.rules.emplace_back(rule);
  return PreTokenizer({{program, Behavior::ISOLATED, false}}, unicode_table("16.0"));
}

std::vector<std::uint32_t> code_points_of(const std::string &text) {
  const auto *const data = reinterpret_cast<const std::uint8_t *>(text.data());
  std::vector<std::uint32_t> result;
  for (std::size_t at = 0; at < text.size();) {
    const Decoded decoded = decode_utf8(data + at, text.size() - at);
    result.push_back(decoded.code_point);
    at += decoded.width;
  }
  return result;
}

bool are_cuts_safe(const PreTokenizer &tokenizer, Random &source, int rounds, const char *name,
                   std::size_t &joints) {
  for (int round = 0; round < rounds; ++round) {
    const std::string text = round_text(source, round);
    if (!is_cut_safe(tokenizer, text, text.empty() ? 0 : source() % text.size())) {
      print_bytes(name, "a safe cut differs", text);
      return false;
    }
    if (tokenizer.cuts() != nullptr && !tokenizer.removes() && text.size() < 64 &&
        !cuts_hold(tokenizer, code_points_of(text), joints)) {
      print_bytes(name, "a cut depends on more than two code points", text);
      return false;
    }
  }
  return true;
}

} // namespace

// The argument is the number of random programs; the default is 1500.
int main(int count, char **arguments) {
  Random source(20261124);
  std::size_t joints = 0;
  std::size_t passed = check_presets([&](const char *name, const PreTokenizer &tokenizer) {
    const bool is_first = name == preset_at(0).names;
    if (!are_cuts_safe(tokenizer, source, 700, name, joints))
      return false;
    if (cuts_hold_in_short_texts(tokenizer, is_first ? 300000 : 30000, joints))
      return true;
    std::printf("%s: a cut depends on more than two code points\n", name);
    return false;
  });
  if (passed == 0)
    return 1;
  if (!cuts_hold_in_short_texts(run_with_body_in_its_tail(), 1000, joints)) {
    std::printf("a cut within a tail differs\n");
    return 1;
  }
  const int programs = count > 1 ? std::atoi(arguments[1]) : 1500;
  for (int number = 0; number < programs; ++number) {
    const PreTokenizer tokenizer(numbered_stages(source, number), unicode_table("16.0"));
    if (!are_cuts_safe(tokenizer, source, 40, "random stages", joints) ||
        !cuts_hold_in_short_texts(tokenizer, 1000, joints))
      return 1;
    ++passed;
  }
  if (joints == 0) {
    std::printf("no joints tested\n");
    return 1;
  }
  std::printf("%zu presets and programs passed, 0 failed\n", passed);
  return 0;
}
