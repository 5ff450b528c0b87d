// Compares the fast path with the plain machine, which applies the rules one by one. Uses
// random texts, every built-in preset, random programs, and each set of kernels (the
// implementations for an instruction set) that the processor can run.
#include "tests/random_splits.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace pretok;

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

// Calls agree() for four arrays of code units made from `text`:
//   - the bytes of `text`, as UTF-8;
//   - the same bytes, each as one code point;
//   - the code points of `text` in 16 bits, which cut off larger code points;
//   - the code points of `text` in 32 bits.
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

bool agree_on_texts(const PreTokenizer &tokenizer, Random &source, int rounds,
                    const char *name) {
  for (int round = 0; round < rounds; ++round) {
    const std::string text = round_text(source, round);
    if (!agree_on(tokenizer, text)) {
      print_bytes(name, "the fast path differs", text);
      return false;
    }
  }
  return true;
}

// Tests every sequence of four members of BYTES. BYTES has the first and last bytes of the
// ranges that well-formed UTF-8 allows. The text has 58 to 64 bytes before each sequence, so
// the sequence lies near or across byte 64, where a block of the kernels ends.
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

} // namespace

// The argument is the number of random programs; the default is 1500.
int main(int count, char **arguments) {
  Random source(20261120);
  std::size_t passed = check_presets([&](const char *name, const PreTokenizer &tokenizer) {
    return agree_on_texts(tokenizer, source, 700, name);
  });
  std::vector<StageProgram> first;
  if (passed == 0 || !read_stages(preset_at(0).words(), first).empty() ||
      !agree_on_sequences(PreTokenizer(first, unicode_table("16.0"))))
    return 1;
  const int programs = count > 1 ? std::atoi(arguments[1]) : 1500;
  std::size_t fast = 0; // programs of several stages with a fast path
  for (int number = 0; number < programs; ++number) {
    const std::vector<StageProgram> stages = numbered_stages(source, number);
    const PreTokenizer tokenizer(stages, unicode_table("16.0"));
    if (!agree_on_texts(tokenizer, source, 40, "random stages"))
      return 1;
    fast += stages.size() > 1 && tokenizer.has_fast_path() ? 1 : 0;
    ++passed;
  }
  std::printf("%zu programs of several stages have a fast path\n", fast);
  std::printf("%zu presets and programs passed, 0 failed, with kernels", passed);
  for (const Kernels *use : all_kernels())
    std::printf(" %s", use->name);
  std::printf("\n");
  return 0;
}
