// Tests the reader of .pretok files.
#include "core/split/presets.hpp"
#include "formats/crc32.hpp"
#include "tests/vocabulary_files.hpp"

namespace {

using namespace pretok;
using namespace pretok::file_tests;

// Returns a .pretok file: the header with the CRC-32 of `body`, then `body`.
std::string with_sum(const std::string &body, std::uint32_t version = 4) {
  return "\x89PRETOK\n" + number(version, 4, false) +
         number(crc32(bytes_of(body), body.size()), 4, false) + body;
}

// Returns a LEB128 number: seven bits in each byte, the lowest bits first.
std::string varint(std::uint32_t value) {
  std::string bytes;
  for (; value > 0x7F; value >>= 7)
    bytes += static_cast<char>(0x80 | (value & 0x7F));
  return bytes + static_cast<char>(value);
}

// Flags of a .pretok file. Without RANKS, the file has merges.
constexpr std::uint32_t NO_FLAGS = 0;
constexpr std::uint32_t RANKS = 3; // the flag of ranks, and ignore_merges, which ranks need
constexpr std::uint32_t STEPS = 4;
constexpr std::uint32_t ADD_PREFIX_SPACE = 8;
constexpr std::uint32_t OWN_PRESET = 16;
constexpr std::uint32_t TRIM_OFFSETS = 64;
constexpr std::uint32_t KEEP_FIRST_SPACE = 128;
constexpr std::uint32_t UNKNOWN_FLAG = 512;

// Returns the part of the body of a .pretok file before the tokens.
std::string pretok_file_head(std::uint32_t flags, const std::string &preset) {
  std::string body = varint(flags) + varint(static_cast<std::uint32_t>(preset.size())) + preset;
  body += "\x04" + std::string("16.0");
  if ((flags & OWN_PRESET) != 0) {
    const std::vector<std::uint32_t> words = find_preset("qwen2")->words();
    body += varint(static_cast<std::uint32_t>(words.size()));
    for (const std::uint32_t word : words)
      body += varint(word);
    body += varint(2) + "{}"; // the description
  }
  body += varint(1) + varint(258) + varint(0); // template: id 258 before a text, none after it
  // One added token: its size, bytes and id, and the flag for special tokens.
  body += varint(1) + varint(5) + "<end>" + varint(258) + varint(1);
  if ((flags & STEPS) != 0) // NFC, no Metaspace, and no decoder
    body += varint(1) + varint(0) + varint(0) + varint(0);
  return body;
}

// Returns the 256 single bytes as literal tokens: their number, their lengths, their bytes.
std::string pretok_file_literals() {
  std::string body = varint(256) + std::string(256, '\1');
  for (int byte = 0; byte < 256; ++byte)
    body += static_cast<char>(byte);
  return body;
}

// Returns a .pretok file without its header.
std::string pretok_file_body(std::uint32_t flags, const std::string &preset = "gpt2") {
  // 2 merges; none of them makes an existing token.
  std::string body =
      pretok_file_head(flags, preset) + pretok_file_literals() + varint(2) + varint(0);
  for (const unsigned token_index : {0x61U, 0x62U, 0x100U, 0x63U}) // "a" "b", then "ab" "c"
    body += number(token_index, 2, false);
  return body + varint(1) + varint(0) + varint(258); // one run of ids: 0 to 257
}

// Corrects the CRC-32 of a damaged .pretok file, as an attacker would; returns all other files
// unchanged.
std::string summed(std::string file) {
  return file.size() < 16 || file[0] != '\x89' ? file : with_sum(file.substr(16));
}

void test_reading() {
  reads("a .pretok file of ranks", with_sum(pretok_file_body(RANKS)), true);
  reads("a .pretok file of merges", with_sum(pretok_file_body(NO_FLAGS)), true);
  TokenizerSpec spec;
  expect(!read(with_sum(pretok_file_body(RANKS | STEPS | ADD_PREFIX_SPACE)), spec) &&
             spec.nfc && spec.add_prefix_space && spec.vocabulary.from_ranks &&
             spec.preset == "gpt2" && spec.unicode == "16.0",
         "the flags of a .pretok file");
  reads("a .pretok file with trimmed spans", with_sum(pretok_file_body(RANKS | TRIM_OFFSETS)),
        true);
  reads("a .pretok file with trimmed spans that keep a space",
        with_sum(pretok_file_body(RANKS | TRIM_OFFSETS | KEEP_FIRST_SPACE)), true);
  spec = {};
  expect(!read(with_sum(pretok_file_body(NO_FLAGS, "new")), spec) && spec.preset.empty() &&
             spec.why_no_preset.find("preset \"new\"") != std::string::npos,
         "a .pretok file with an unknown preset name");
  spec = {};
  expect(!read(with_sum(pretok_file_body(OWN_PRESET, "mine")), spec) && spec.preset.empty() &&
             spec.program.size() == find_preset("qwen2")->words().size(),
         "a .pretok file with a preset of its own");
}

void test_refusing() {
  const auto unsupported = LoadError::UNSUPPORTED;
  const auto malformed = LoadError::MALFORMED;
  const std::string body = pretok_file_body(RANKS);
  refuses("a .pretok file of a later version", with_sum(body, 5), unsupported, "got 5");
  refuses("a .pretok file of an earlier version", with_sum(body, 3), unsupported,
          "a .pretok file of an unreleased version");
  refuses("a .pretok file with an unknown flag", with_sum(pretok_file_body(UNKNOWN_FLAG)),
          malformed, "unknown flags");
  refuses("a .pretok file with flag 128 alone", with_sum(pretok_file_body(KEEP_FIRST_SPACE)),
          malformed, "flag 128 without flag 64");
  refuses("a .pretok file with a byte after its end", with_sum(body + '\0'), malformed,
          "after its end");
  std::string later_unicode = pretok_file_body(NO_FLAGS);
  later_unicode[later_unicode.find("16.0") + 1] = '9';
  refuses("a .pretok file of a later Unicode version", with_sum(later_unicode), unsupported,
          "Unicode \"19.0\"");
  std::string damaged = with_sum(body);
  damaged.back() ^= 1;
  refuses("a .pretok file with a changed bit", damaged, malformed, "CRC-32");
}

// A merge takes six bytes of the file. Most merges of this file make tokens of 254 bytes, so
// all tokens together are about forty times as large as the file.
void test_limit_of_merged_bytes() {
  std::string merges;
  std::uint32_t count = 0;
  // Adds the merge of the tokens with these indices. Returns the index of the new token.
  const auto add = [&](std::uint32_t left, std::uint32_t right) {
    merges += number(left, 3, false) + number(right, 3, false);
    return 256 + count++;
  };
  std::vector<std::uint32_t> powers = {'a'}; // powers[i] is "a" 2^i times
  while (powers.size() < 7)
    powers.push_back(add(powers.back(), powers.back()));
  std::uint32_t run = powers[6]; // becomes "a" 125 times: 64 + 32 + 16 + 8 + 4 + 1
  for (const unsigned power : {5U, 4U, 3U, 2U, 0U})
    run = add(run, powers[power]);
  std::vector<std::uint32_t> lefts;  // 256 tokens of 127 bytes: a byte, the run, "b"
  std::vector<std::uint32_t> rights; // 256 tokens of 127 bytes: the run, "b", a byte
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    lefts.push_back(add(byte, add(run, 'b')));
    rights.push_back(add(run, add('b', byte)));
  }
  for (const std::uint32_t left : lefts)
    for (const std::uint32_t right : rights)
      add(left, right);
  // These tokens have a little less than 2^24 bytes, the limit. Add 2048 tokens of 128 bytes.
  for (std::uint32_t byte = 0; byte < 8; ++byte)
    for (const std::uint32_t right : rights)
      add(byte, right);
  const std::string body = pretok_file_head(NO_FLAGS, "gpt2") + pretok_file_literals() +
                           varint(count) + varint(0) + merges + varint(1) + varint(0) +
                           varint(256 + count);
  const std::string file = with_sum(body);
  allocated = 0;
  refuses("a small file of large tokens", file, LoadError::MALFORMED,
          "has merges that make tokens of more than");
  expect(allocated < 8 * file.size(),
         "a small file of large tokens: the reader stops before it allocates the tokens");
}

// A small file in which each merge doubles the token of the previous merge.
void test_limit_of_token_length() {
  constexpr std::uint32_t COUNT = 40;
  std::string body =
      pretok_file_head(NO_FLAGS, "gpt2") + pretok_file_literals() + varint(COUNT) + varint(0);
  for (std::uint32_t i = 0; i < COUNT; ++i) {
    const std::uint32_t part = i == 0 ? 'a' : 255 + i; // 255 + i: the previous merge's token
    body += number(part, 2, false) + number(part, 2, false);
  }
  body += varint(1) + varint(0) + varint(256 + COUNT);
  refuses("tokens that double", with_sum(body), LoadError::MALFORMED,
          "merges a token of more than 255");
}

} // namespace

int main() {
  test_reading();
  test_refusing();
  test_limit_of_token_length();
  test_limit_of_merged_bytes();
  reads_from_file("a .pretok file", with_sum(pretok_file_body(RANKS)));
  survives_damage("a .pretok file", with_sum(pretok_file_body(RANKS)), unchanged);
  survives_damage("a .pretok file of ranks, with a corrected CRC-32",
                  with_sum(pretok_file_body(RANKS)), summed);
  survives_damage("a .pretok file of merges and its own preset, with a corrected CRC-32",
                  with_sum(pretok_file_body(OWN_PRESET)), summed);
  return report();
}
