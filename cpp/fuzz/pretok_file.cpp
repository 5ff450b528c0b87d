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

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  std::string body;
  if (input.below(4) == 3) {
    const std::vector<std::uint8_t> rest = input.rest();
    body.assign(rest.begin(), rest.end());
  } else {
    body = some_body(input);
    damage(input, body, 0);
  }
  const std::uint32_t sum =
      crc32(reinterpret_cast<const std::uint8_t *>(body.data()), body.size());
  check_file("\x89PRETOK\n" + little_endian(1, 4) + little_endian(sum, 4) + body, input);
  return 0;
}
