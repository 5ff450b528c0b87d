// Fuzzes the reader of .pretok files, with valid checksums. Each file must give an error or a
// tokenizer that works.
#include "core/split/presets.hpp"
#include "formats/crc32.hpp"
#include "fuzz/files.hpp"

namespace {

using namespace pretok;

// Encodes a number as LEB128: seven bits per byte, the lowest bits first. The top bit is 0 in
// the last byte, and 1 in all bytes before.
std::string varint(std::uint32_t value) {
  std::string bytes;
  for (; value > 0x7F; value >>= 7)
    bytes += static_cast<char>(0x80 | (value & 0x7F));
  return bytes + static_cast<char>(value);
}

std::string text(const std::string &value) {
  return varint(static_cast<std::uint32_t>(value.size())) + value;
}

// Returns the contents of a file with the 256 byte tokens, "ab", "abc" and the added token
// "<end>".
std::string some_body(Input &input) {
  const std::uint32_t flags = input.byte() & 31U;
  std::string body = varint(flags) + text("gpt2") + text("16.0");
  if ((flags & 16) != 0) { // a custom preset: its words and its description are in the file
    const Preset &preset = preset_at(input.below(preset_count()));
    const std::vector<std::uint32_t> words = preset.words();
    body += varint(static_cast<std::uint32_t>(words.size()));
    for (const std::uint32_t word : words)
      body += varint(word);
    body += text("{}");
  }
  body += varint(1) + varint(258) + varint(0); // the id 258 before each text; no ids after it
  body += varint(1) + text("<end>") + varint(258) + varint(input.byte() & 31U);
  body += varint(256) + std::string(256, '\1'); // 256 tokens with a length of 1 byte each
  for (int byte = 0; byte < 256; ++byte)
    body += static_cast<char>(byte);
  body += varint(2) + varint(0); // 2 merges; none of them makes an existing token
  for (const unsigned token_index : {0x61U, 0x62U, 0x100U, 0x63U})
    body += little_endian(token_index, 2);
  return body + varint(1) + varint(0) + varint(258); // one run of ids: 0 to 257
}

// Returns the contents of a file of version 2: its tokens are texts, and there are no fallback
// tokens. The characters of tokens stand for bytes, or there is a normalizer of SentencePiece.
std::string some_text_body(Input &input) {
  const bool is_byte_level = input.coin();
  const std::uint32_t flags = is_byte_level ? 32U | (input.byte() & 14U) : 48U;
  std::string body = varint(flags) + text("gpt2") + text("16.0");
  if (!is_byte_level) {
    const std::vector<std::uint32_t> words = preset_at(0).words(); // readers in C++ ignore it
    body += varint(static_cast<std::uint32_t>(words.size()));
    for (const std::uint32_t word : words)
      body += varint(word);
    body += text("{}");
  }
  body += varint(0) + varint(0); // no ids around a text
  body += varint(1) + text("<s>") + varint(1) + varint(input.byte() & 31U);
  const bool is_sentencepiece = !is_byte_level && input.coin();
  body += varint(is_byte_level ? 8 : 7) + varint(0) + varint(input.coin() ? 1 : 0) +
          varint((is_sentencepiece ? 1U : 0U) | (input.coin() ? 4U : 0U) | 8U) + varint(0);
  if (is_sentencepiece)
    body += text(" ?");
  if (!is_byte_level) {
    body += varint(input.byte() & 15U);
    std::string units(1024, '\0');
    const auto set = [&](std::size_t at, std::uint32_t unit) {
      units.replace(4 * at, 4, little_endian(unit, 4));
    };
    if (input.coin()) {                   // the rule that "a" becomes "b "
      set('a', 'a' | 1U << 8 | 1U << 10); // its value is at index 'a' ^ 1
      set('a' ^ 1U, 1U << 31);
    }
    const std::string replacements("b \0", 3);
    body += input.coin() ? varint(0) : text(little_endian(1024, 4) + units + replacements);
  }
  const std::string tokens[] = {"<unk>", "<s>", "\xE2\x96\x81", "a", "b", "\xC3\xA9"};
  body += varint(std::size(tokens));
  for (const std::string &token : tokens)
    body += varint(static_cast<std::uint32_t>(token.size()));
  for (const std::string &token : tokens)
    body += token;
  // Two merges, of the tokens 2 and 3 and of the tokens 4 and 3; one run of ids.
  body += varint(2) + varint(0) + "\2\3\4\3";
  return body + varint(1) + varint(0) + varint(std::size(tokens) + 2);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  std::string body;
  const std::size_t choice = input.below(8);
  const std::uint32_t version = choice == 1 || choice == 7 ? 2 : 1;
  if (choice % 4 == 3) {
    const std::vector<std::uint8_t> rest = input.rest();
    body.assign(rest.begin(), rest.end());
  } else {
    body = version == 2 ? some_text_body(input) : some_body(input);
    damage(input, body, 0);
  }
  const std::uint32_t sum =
      crc32(reinterpret_cast<const std::uint8_t *>(body.data()), body.size());
  check_file("\x89PRETOK\n" + little_endian(version, 4) + little_endian(sum, 4) + body, input);
  return 0;
}
