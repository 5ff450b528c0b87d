// Fuzzes NFC and NFD. Text in NFC stays unchanged, normalizing twice equals normalizing
// once, and normalizing both sides of a cut equals normalizing the whole text.
#include "core/unicode/nfc.hpp"
#include "fuzz/input.hpp"

#include "core/unicode/utf8.hpp"

namespace {

using namespace pretok;
using Bytes = std::vector<std::uint8_t>;

Bytes normalized(const std::uint8_t *data, std::size_t size) {
  Bytes result;
  to_nfc(data, size, result);
  return result;
}

// Appends the UTF-8 bytes of a code point.
void put(std::uint32_t code_point, Bytes &to) {
  const auto byte = [&to](std::uint32_t value) {
    to.push_back(static_cast<std::uint8_t>(value));
  };
  if (code_point < 0x80) {
    byte(code_point);
  } else if (code_point < 0x800) {
    byte(0xC0 | code_point >> 6);
    byte(0x80 | (code_point & 63));
  } else if (code_point < 0x10000) {
    byte(0xE0 | code_point >> 12);
    byte(0x80 | (code_point >> 6 & 63));
    byte(0x80 | (code_point & 63));
  } else {
    byte(0xF0 | (code_point >> 18 & 7));
    byte(0x80 | (code_point >> 12 & 63));
    byte(0x80 | (code_point >> 6 & 63));
    byte(0x80 | (code_point & 63));
  }
}

// Returns text from Unicode blocks that have composed or combining characters. Many
// neighbouring code points of such a text compose. One choice in 256 adds an arbitrary byte.
Bytes text_of(Input &input) {
  static constexpr std::uint32_t BLOCKS[] = {0x41,   0xC0,   0x100,  0x300,   0x320,   0x1100,
                                             0x1160, 0x11A8, 0xAC00, 0x1E00,  0x1F00,  0x900,
                                             0x9C0,  0xB40,  0xDC0,  0x3040,  0x3099,  0xF900,
                                             0x1025, 0x610,  0x591,  0x11099, 0x1D15E, 0x2126};
  Bytes text;
  while (input.left() != 0) {
    const std::uint8_t choice = input.byte();
    if (choice == 0xFF)
      text.push_back(input.byte());
    else
      put(BLOCKS[choice % (sizeof BLOCKS / sizeof *BLOCKS)] + input.byte() % 64U, text);
  }
  text.shrink_to_fit();
  return text;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const std::size_t known_part = input.byte(); // in 255ths of the text
  const Bytes text = input.coin() ? text_of(input) : input.rest();
  const Bytes normal = normalized(text.data(), text.size());
  check(is_nfc(text.data(), text.size()) == (normal == text),
        "is_nfc holds exactly if to_nfc changes nothing");
  check(normal.size() <= 3 * text.size(), "normalized text is at most 3 times as long");
  check(is_nfc(normal.data(), normal.size()), "the output of to_nfc is in NFC");
  check(normalized(normal.data(), normal.size()) == normal,
        "normalizing twice equals normalizing once");
  Bytes decomposed;
  to_nfd(text.data(), text.size(), decomposed);
  Bytes again;
  to_nfd(decomposed.data(), decomposed.size(), again);
  check(again == decomposed, "decomposing twice equals decomposing once");
  check(normalized(decomposed.data(), decomposed.size()) == normal,
        "a text and its decomposition have the same NFC");
  // Find a cut in a prefix of the text. The cut must also be valid in the whole text.
  const std::size_t known = text.size() * known_part / 255;
  const Bytes start(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(known));
  const std::size_t cut = last_nfc_cut(start.data(), start.size(), 0);
  check(cut <= known, "a cut is within the text");
  Bytes joined = normalized(text.data(), cut);
  to_nfc(text.data() + cut, text.size() - cut, joined);
  check(joined == normal, "normalizing both sides of a cut equals normalizing the whole");
  return 0;
}
