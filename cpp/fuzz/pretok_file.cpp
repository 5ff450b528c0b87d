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

// Returns the flags that say which white space spans exclude, mostly none. They depend on the
// three high bits of `choice`.
std::uint32_t span_flags(std::uint32_t choice) {
  choice >>= 5;
  return choice == 7 ? 64U | 128U : choice == 6 ? 64U : 0U;
}

std::uint32_t number_below(Input &input, std::uint32_t limit) {
  return static_cast<std::uint32_t>(input.below(limit));
}

// Returns what follows the pattern of a step: that it is a literal, or the program of a regex.
std::string some_program(Input &input) {
  if (input.coin())
    return varint(0);
  const std::vector<std::uint32_t> words = preset_at(input.below(4)).words();
  std::string program = varint(1) + text("16.0");
  program += varint(static_cast<std::uint32_t>(words.size()));
  for (const std::uint32_t word : words)
    program += varint(word);
  return program;
}

// Returns a normalizer: its kind, and its options.
std::string some_step(Input &input) {
  const std::uint32_t kind = number_below(input, 13);
  std::string step = varint(kind);
  static const char *const TEXTS[] = {"a",
                                      " ",
                                      "\xE2\x96\x81",
                                      "",
                                      "ab",
                                      "\xC3\xA9 ",
                                      "aa",
                                      "aaaaaaaaaaaaaaaa",
                                      "\xEF\xB7\xBA", // U+FDFA, 33 bytes in NFKD
                                      "\xE4\xB8\xAD"};
  const auto any_text = [&] { return text(TEXTS[input.below(std::size(TEXTS))]); };
  const auto flag = [&] { return varint(input.byte() & 1U); };
  if (kind == 8)
    step += flag() + flag();
  if (kind == 9)
    step += flag() + flag() + varint(number_below(input, 3)) + flag();
  if (kind == 10)
    step += any_text();
  if (kind == 11) // a text or a regex, whose program is that of a preset
    step += any_text() + some_program(input) + any_text();
  if (kind == 12)
    step += text(little_endian(1024, 4) + std::string(1024, '\0'));
  return step;
}

// Returns a decoder: its kind, and its options.
std::string some_decoder(Input &input) {
  const std::uint32_t kind = number_below(input, 10);
  std::string step = varint(kind);
  const auto flag = [&] { return varint(input.byte() & 1U); };
  switch (kind) {
  case 3:
    return step + text(" ") + varint(input.byte()) + varint(input.byte());
  case 4:
    return step + text(input.coin() ? "a" : "\xE2\x96\x81") + some_program(input) +
           text(input.coin()   ? " "
                : input.coin() ? "aa"
                               : "");
  case 5:
    return step + text("\xE2\x96\x81") + varint(input.byte() & 3U);
  case 6:
    return step + text("a");
  case 7:
    return step + text(input.coin() ? "a" : "") + flag();
  case 8:
    return step + text(input.coin() ? "a" : "") + text(input.coin() ? "b" : "") + flag();
  default:
    return step;
  }
}

// Returns the section `steps`.
std::string some_steps(Input &input) {
  const auto append_chain = [&input](std::size_t count, std::string (*make)(Input &),
                                     std::string &to) {
    // A long chain repeats three steps.
    std::string parts[3];
    for (std::size_t i = 0; i < count; ++i)
      to += i < 3 ? parts[i] = make(input) : parts[i % 3];
  };
  const std::size_t count = input.chain_length();
  std::string section = varint(static_cast<std::uint32_t>(count));
  append_chain(count, some_step, section);
  const std::uint32_t scheme = number_below(input, 4);
  section += varint(scheme);
  if (scheme != 0)
    section += text(input.coin() ? "\xE2\x96\x81" : "_") +
               (input.coin() ? varint(1) + text("gpt2") + text("16.0") : varint(0));
  const std::size_t decoders = input.chain_length();
  section += varint(static_cast<std::uint32_t>(decoders) + 1);
  append_chain(decoders, some_decoder, section);
  return section;
}

// Returns the contents of a file with the 256 byte tokens, "ab", "abc" and the added token
// "<end>".
std::string some_body(Input &input) {
  const std::uint32_t choice = input.byte();
  const std::uint32_t flags = (choice & 31U) | span_flags(choice);
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
  if ((flags & 4) != 0)
    body += some_steps(input);
  body += varint(256) + std::string(256, '\1'); // 256 tokens with a length of 1 byte each
  for (int byte = 0; byte < 256; ++byte)
    body += static_cast<char>(byte);
  body += varint(2) + varint(0); // 2 merges; none of them makes an existing token
  for (const unsigned token_index : {0x61U, 0x62U, 0x100U, 0x63U})
    body += little_endian(token_index, 2);
  return body + varint(1) + varint(0) + varint(258); // one run of ids: 0 to 257
}

// Returns a charsmap, which may be empty.
std::string some_charsmap(Input &input) {
  std::string units(1024, '\0');
  const auto set = [&](std::size_t at, std::uint32_t unit) {
    units.replace(4 * at, 4, little_endian(unit, 4));
  };
  if (input.coin()) {                   // the rule that "a" becomes "b "
    set('a', 'a' | 1U << 8 | 1U << 10); // its value is at index 'a' ^ 1
    set('a' ^ 1U, 1U << 31);
  }
  const std::string replacements("b \0", 3);
  return input.coin() ? varint(0) : text(little_endian(1024, 4) + units + replacements);
}

// Returns the contents of a file whose tokens are texts, and that normalizes and decodes like
// SentencePiece.
std::string some_sentencepiece_body(Input &input) {
  std::string body = varint(36) + text("gpt2") + text("16.0");
  body += varint(0) + varint(0); // no ids around a text
  body += varint(1) + text("<s>") + varint(1) + varint(input.byte() & 31U);
  const auto flag = [&] { return varint(input.byte() & 1U); };
  // The unknown token, no fallback tokens, the split, no prefix and no suffix
  body += flag() + varint(2U | (input.byte() & 1U)) + flag() + text("") + text("");
  body += varint(1) + varint(13) + some_charsmap(input) + flag() + flag() + flag() + flag();
  body += varint(0) + varint(2) + varint(10) + flag() + flag() + text(" ?");
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

// Returns the contents of a file whose tokens are texts, and that has steps.
std::string some_steps_body(Input &input) {
  const std::uint32_t options = input.byte();
  const std::uint32_t flags = 36U | (options & 10U) | span_flags(options);
  std::string body = varint(flags) + text("gpt2") + text("16.0");
  body += varint(0) + varint(0); // no ids around a text
  body += varint(1) + text("<s>") + varint(1) + varint(input.byte() & 31U);
  body += varint(input.coin() ? 1 : 0) + varint(options >> 4) + varint(number_below(input, 3)) +
          text(input.coin() ? "#" : "") + text(input.coin() ? "</w>" : "");
  body += some_steps(input);
  const std::string tokens[] = {"<unk>", "<s>",   "\xE2\x96\x81", "a",    "b",
                                "#a",    "b</w>", "<0x41>",       "a</w>"};
  body += varint(std::size(tokens));
  for (const std::string &token : tokens)
    body += varint(static_cast<std::uint32_t>(token.size()));
  for (const std::string &token : tokens)
    body += token;
  body += varint(2) + varint(0) + "\3\4\3\6"; // a b, a b</w>
  return body + varint(1) + varint(0) + varint(std::size(tokens) + 2);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  std::string body;
  const std::size_t choice = input.below(12);
  if (choice % 4 == 3) {
    const std::vector<std::uint8_t> rest = input.rest();
    body.assign(rest.begin(), rest.end());
  } else {
    body = choice >= 8       ? some_steps_body(input)
           : choice % 6 == 1 ? some_sentencepiece_body(input)
                             : some_body(input);
    damage(input, body, 0);
  }
  const std::uint32_t sum =
      crc32(reinterpret_cast<const std::uint8_t *>(body.data()), body.size());
  check_file("\x89PRETOK\n" + little_endian(4, 4) + little_endian(sum, 4) + body, input);
  return 0;
}
