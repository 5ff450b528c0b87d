// Compares the fast path with the plain machine, on random texts, for every built-in preset.
#include "presets.hpp"
#include "splitter.hpp"

#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace pretok;

// What hurts: letters of contractions, marks, digits, all kinds of white space, and, at the
// end, bytes that are not UTF-8.
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

template <typename Source> bool agree(const Machine &machine, const Source &source) {
  std::vector<std::size_t> plain;
  std::vector<std::size_t> fast;
  machine.run(source, false, false, [&](std::size_t end, int) { plain.push_back(end); });
  split(machine, source, [&](std::size_t end) { fast.push_back(end); });
  const bool whole = source.size() == 0 ? plain.empty() : plain.back() == source.size();
  return whole && plain == fast;
}

bool agree_on(const Machine &machine, const std::string &text) {
  const auto *bytes = reinterpret_cast<const std::uint8_t *>(text.data());
  std::vector<std::uint16_t> narrow;
  std::vector<std::uint32_t> wide;
  for (std::size_t at = 0; at < text.size();) {
    const Decoded decoded = decode_utf8(bytes + at, text.size() - at);
    narrow.push_back(static_cast<std::uint16_t>(decoded.code_point));
    wide.push_back(decoded.code_point);
    at += decoded.width;
  }
  const ClassTable &classes = machine.classes();
  return agree(machine, Utf8(bytes, text.size(), classes)) &&
         agree(machine, CodePoints<std::uint8_t>(bytes, text.size(), classes)) &&
         agree(machine, CodePoints<std::uint16_t>(narrow.data(), narrow.size(), classes)) &&
         agree(machine, CodePoints<std::uint32_t>(wide.data(), wide.size(), classes));
}

} // namespace

int main() {
  std::mt19937 source(20261120);
  std::size_t passed = 0;
  for (std::size_t index = 0; index < preset_count(); ++index) {
    const Preset &preset = preset_at(index);
    Program program;
    if (const char *wrong = read_program(preset.words, preset.word_count, program)) {
      std::printf("%s: %s\n", preset.names, wrong);
      return 1;
    }
    for (const char *version : {"15.0", "15.1", "16.0", "17.0", "18.0"}) {
      const Machine machine(program, unicode_table(version));
      for (int round = 0; round < 1500; ++round) {
        std::string text;
        for (std::size_t left = source() % (round % 10 == 0 ? 900 : 12); left > 0; --left)
          text += PARTS[source() % std::size(PARTS)];
        if (!agree_on(machine, text)) {
          std::printf("%s, Unicode %s: the fast path differs on:", preset.names, version);
          for (const char byte : text)
            std::printf(" %02X", static_cast<unsigned>(static_cast<unsigned char>(byte)));
          std::printf("\n0 passed, 1 failed\n");
          return 1;
        }
        ++passed;
      }
    }
  }
  std::printf("%zu passed, 0 failed\n", passed);
  return 0;
}
