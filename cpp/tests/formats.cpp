// Reads small files of each format. An intact file must give its tokenizer. A truncated or
// changed file must give an error, or a tokenizer that works. The memory of each reader must
// stay proportional to the file.
#include "core/bpe/vocabulary.hpp"
#include "core/split/presets.hpp"
#include "formats/byte_source.hpp"
#include "formats/crc32.hpp"
#include "formats/read_spec.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

static std::size_t allocated = 0; // the bytes allocated since a test last set it to 0

void *operator new(std::size_t size) {
  allocated += size;
  if (void *memory = std::malloc(size != 0 ? size : 1))
    return memory;
  std::abort();
}
void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
  return operator new(size);
}
void *operator new[](std::size_t size) { return operator new(size); }
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept {
  return operator new(size);
}
void operator delete[](void *what) noexcept { std::free(what); }
void operator delete[](void *what, std::size_t) noexcept { std::free(what); }
void operator delete(void *what) noexcept { std::free(what); }
void operator delete(void *what, std::size_t) noexcept { std::free(what); }

namespace {

using namespace pretok;

using Ids = std::vector<std::uint32_t>;

int passed = 0;
int failed = 0;

void expect(bool good, const std::string &what) {
  (good ? passed : failed) += 1;
  if (!good)
    std::printf("failed: %s\n", what.c_str());
}

const std::uint8_t *bytes_of(const std::string &text) {
  return reinterpret_cast<const std::uint8_t *>(text.data());
}

LoadError read(const std::string &file, TokenizerSpec &spec) {
  return read_spec(bytes_of(file), file.size(), spec);
}

// Returns the ids of a text of one pre-token, or no ids if the vocabulary cannot be built.
Ids encoded(VocabularyData data, const std::string &text) {
  Vocabulary vocabulary;
  if (vocabulary.build(std::move(data)) != nullptr)
    return {};
  Ids ids(text.size());
  ids.resize(
      vocabulary.encode(bytes_of(text), text.size(), bytes_of(text) + text.size(), ids.data()));
  return ids;
}

// ---- Files of a vocabulary: the 256 bytes, "ab", "abc" and, in some formats, "<end>" ----

const std::string TEXT = "abcab\xC3\xA9";
const Ids IDS = {257, 256, 0xC3, 0xA9};

std::string base64(const std::string &bytes) {
  constexpr char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t j = i; j < i + 3; ++j)
      bits = bits << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      text += i + j <= bytes.size() ? DIGITS[bits >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::string tiktoken_file(const std::string &end_of_line = "\n") {
  std::string file;
  for (int byte = 0; byte < 256; ++byte)
    file += base64(std::string(1, static_cast<char>(byte))) + " " + std::to_string(byte) +
            end_of_line;
  return file + base64("ab") + " 256" + end_of_line + base64("abc") + " 257" + end_of_line;
}

// Returns an integer of `width` bytes.
std::string number(std::uint64_t value, std::size_t width, bool big_endian) {
  std::string bytes;
  for (std::size_t i = 0; i < width; ++i)
    bytes += static_cast<char>(value >> 8 * (big_endian ? width - 1 - i : i) & 0xFF);
  return bytes;
}

struct GgufFile {
  bool big_endian = false;
  std::uint32_t version = 3;
  std::string entries = {};
  std::uint64_t count = 0;

  std::string text(const std::string &value) const {
    return number(value.size(), 8, big_endian) + value;
  }
  void add(const std::string &key, std::uint32_t kind, const std::string &value) {
    entries += text("tokenizer.ggml." + key) + number(kind, 4, big_endian) + value;
    ++count;
  }
  void add_texts(const std::string &key, const std::vector<std::string> &texts) {
    std::string value = number(8, 4, big_endian) + number(texts.size(), 8, big_endian);
    for (const std::string &each : texts)
      value += text(each);
    add(key, 9, value);
  }
  std::string file() const {
    return "GGUF" + number(version, 4, big_endian) + number(0, 8, big_endian) +
           number(count, 8, big_endian) + entries;
  }
};

// Returns the UTF-8 of the character that stands for a byte in byte-level vocabularies.
std::string byte_character(unsigned byte) {
  const bool is_itself = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
  unsigned character = byte;
  if (!is_itself)
    character = byte <= 0x20 ? 256 + byte : byte <= 0xA0 ? 256 + 33 + byte - 0x7F : 256 + 67;
  if (character < 0x80)
    return std::string(1, static_cast<char>(character));
  return {static_cast<char>(0xC0 | character >> 6),
          static_cast<char>(0x80 | (character & 0x3F))};
}

// Returns a GGUF file. The reader must skip two of its values: a string of `padding` bytes, and
// an array of `padding` / 10 strings.
std::string gguf_file(bool big_endian = false, std::uint32_t version = 3,
                      const std::string &model = "gpt2", const std::string &pre = "llama-bpe",
                      std::size_t padding = 0) {
  GgufFile file{big_endian, version};
  std::vector<std::string> tokens;
  for (unsigned byte = 0; byte < 256; ++byte)
    tokens.push_back(byte_character(byte));
  for (const char *token : {"ab", "abc", "<end>"})
    tokens.push_back(token);
  file.add("model", 8, file.text(model));
  if (!pre.empty())
    file.add("pre", 8, file.text(pre));
  file.add("chat_template", 8, file.text(std::string(padding, 'x')));
  file.add_texts("scores", std::vector<std::string>(padding / 10, "yy"));
  file.add_texts("tokens", tokens);
  std::string types = number(5, 4, big_endian) + number(259, 8, big_endian);
  for (int i = 0; i < 259; ++i)
    types += number(i == 258 ? 3 : 1, 4, big_endian);
  file.add("token_type", 9, types);
  file.add_texts("merges", {"a b", "ab c"});
  file.add("bos_token_id", 4, number(258, 4, big_endian));
  file.add("add_eos_token", 7, std::string(1, '\0'));
  return file.file();
}

// Returns a .pretok file: the header with the CRC-32 of `body`, then `body`.
std::string with_sum(const std::string &body, std::uint32_t version = 1) {
  return "\x89PRETOK\n" + number(version, 4, false) +
         number(crc32(bytes_of(body), body.size()), 4, false) + body;
}

#ifdef PRETOK_JSON
std::string json_file() {
  std::string vocab;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::string text = byte_character(byte);
    const bool is_escaped = text == "\"" || text == "\\";
    vocab +=
        "\"" + std::string(is_escaped ? "\\" : "") + text + "\":" + std::to_string(byte) + ",";
  }
  return R"({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [
{"id": 258, "content": "<end>", "single_word": false, "lstrip": false, "rstrip": false,
"normalized": false, "special": true}], "normalizer": {"type": "NFC"}, "pre_tokenizer":
{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
"post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<end>",
"type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}], "pair": [], "special_tokens": {"<end>":
{"id": "<end>", "ids": [258], "tokens": ["<end>"]}}}, "decoder": {"type": "ByteLevel"},
"model": {"type": "BPE", "dropout": null, "ignore_merges": false, "vocab": {)" +
         vocab + R"("ab": 256, "abc": 257}, "merges": ["a b", ["ab", "c"]]}})";
}
#endif

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
constexpr std::uint32_t NFC = 4;
constexpr std::uint32_t ADD_PREFIX_SPACE = 8;
constexpr std::uint32_t OWN_PRESET = 16;
constexpr std::uint32_t UNKNOWN_FLAG = 64;

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
  return body + varint(1) + varint(5) + "<end>" + varint(258) + varint(1);
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

// ---- Tests ----

// Expects that a file gives the vocabulary, and if `has_end`, the special token "<end>" and a
// template that puts it before a text.
void reads(const std::string &name, const std::string &file, bool has_end) {
  TokenizerSpec spec;
  const LoadError error = read(file, spec);
  expect(!error, name + " is read: " + error.message);
  expect(encoded(spec.vocabulary, TEXT) == IDS, name + " has its ids");
  expect(spec.added.size() == (has_end ? 1U : 0U) &&
             (!has_end || (spec.added[0].content == "<end>" && spec.added[0].id == 258 &&
                           spec.added_special[0])),
         name + " has its added tokens");
  expect(spec.before == (has_end ? Ids{258} : Ids{}) && spec.after.empty(),
         name + " has its template");
}

// Expects an error of this kind, with a message that contains `part`.
void refuses(const std::string &name, const std::string &file, LoadError::Kind kind,
             const std::string &part) {
  TokenizerSpec spec;
  const LoadError error = read(file, spec);
  expect(error.kind == kind && error.message.find(part) != std::string::npos,
         name + " is refused: " + error.message);
}

// Returns whether reading a file gives an error with a message, or a tokenizer that works, and
// takes memory in proportion to the file. Adds 1 to `errors` for an error.
bool is_safe(const std::string &file, int &errors) {
  TokenizerSpec spec;
  allocated = 0;
  const LoadError error = read(file, spec);
  if (allocated > 64 * file.size() + (std::size_t{64} << 20))
    return false;
  if (error) {
    ++errors;
    return !error.message.empty() && error.message.size() < 1000;
  }
  const auto &ids = spec.vocabulary.ids;
  if (*std::max_element(ids.begin(), ids.end()) > 1 << 12)
    return true; // building the large tables of this vocabulary would take long
  return !encoded(std::move(spec.vocabulary), TEXT).empty();
}

// Truncates a file at every byte, and flips every bit. Expects that each damaged file is_safe.
// `repair` changes a damaged file before it is read.
void survives_damage(const std::string &name, const std::string &file,
                     std::string (*repair)(std::string)) {
  int errors = 0;
  bool good = true;
  for (std::size_t size = 0; good && size < file.size(); ++size)
    good = is_safe(repair(file.substr(0, size)), errors);
  expect(good, name + ", truncated");
  expect(errors > 0, name + ", truncated: at least one error");
  for (std::size_t at = 0; good && at < file.size(); ++at)
    for (unsigned bit = 0; good && bit < 8; ++bit) {
      std::string changed = file;
      changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
      good = is_safe(repair(changed), errors);
    }
  expect(good, name + ", with one bit flipped");
}

std::string unchanged(std::string file) { return file; }

// Corrects the CRC-32 of a damaged .pretok file, as an attacker would; returns all other files
// unchanged.
std::string summed(std::string file) {
  return file.size() < 16 || file[0] != '\x89' ? file : with_sum(file.substr(16));
}

void test_reading() {
  reads("a rank file", tiktoken_file(), false);
  reads("a rank file with Windows line ends", tiktoken_file("\r\n"), false);
  reads("a rank file with empty lines", "\n" + tiktoken_file("\n\n"), false);
  reads("a rank file with a line for the empty token", "= 300\n" + tiktoken_file(), false);
  reads("a GGUF file", gguf_file(), true);
  reads("a GGUF file of version 2", gguf_file(false, 2), true);
  reads("a big-endian GGUF file", gguf_file(true), true);
  reads("a GGUF file with weights", gguf_file() + std::string(100, '\xFF'), true);
  reads("a .pretok file of ranks", with_sum(pretok_file_body(RANKS)), true);
  reads("a .pretok file of merges", with_sum(pretok_file_body(NO_FLAGS)), true);
#ifdef PRETOK_JSON
  reads("a tokenizer.json", json_file(), true);
  reads("a tokenizer.json with a byte order mark", "\xef\xbb\xbf" + json_file(), true);
#endif
  TokenizerSpec spec;
  expect(!read(gguf_file(), spec) && spec.preset == "llama3" && spec.why_no_preset.empty(),
         "tokenizer.ggml.pre of a GGUF file chooses the preset");
  spec = {};
  expect(!read(gguf_file(false, 3, "gpt2", ""), spec) && spec.preset.empty() &&
             spec.why_no_preset.find("there is no tokenizer.ggml.pre") == 0,
         "a GGUF file without tokenizer.ggml.pre has no preset");
  spec = {};
  expect(!read(with_sum(pretok_file_body(RANKS | NFC | ADD_PREFIX_SPACE)), spec) && spec.nfc &&
             spec.add_prefix_space && spec.vocabulary.from_ranks && spec.preset == "gpt2" &&
             spec.unicode == "16.0",
         "the flags of a .pretok file");
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
  refuses("an empty file", "", malformed, "the file is empty");
  refuses("a file of white space", " \r\n\t", malformed, "the file is empty");
  refuses("a zip archive", "PK\3\4abc", unsupported, "a zip archive");
  refuses("gzip", "\x1f\x8b\x08", unsupported, "gzip");
  refuses("a pickle", "\x80\x04\x95", unsupported, "a pickle");
  refuses("the first byte of a pickle", "\x80", malformed, "begins with \"\\x80\"");
  refuses("a Git LFS pointer", "version https://git-lfs.github.com/spec/v1", unsupported,
          "Git LFS");
  refuses("a web page", "<!DOCTYPE html>", unsupported, "a web page");
  refuses("a SentencePiece model of type Unigram",
          std::string("\n\x0c\n\x05<unk>\x15\0\0\0\0", 14), unsupported, "of type Unigram");
#ifdef PRETOK_JSON
  refuses("vocab.json", " {\"a\": 1}", unsupported, "vocab.json");
#else
  refuses("JSON, in a build without simdjson", " {\"a\": 1}", unsupported, "simdjson");
#endif
  refuses("merges.txt", "#version: 0.2\na b\n", unsupported, "merges.txt");
  refuses("merges.txt without its first line", "a b\nab c\n", unsupported, "merges.txt");
  refuses("a minbpe model", "minbpe v1\n", unsupported, "minbpe");
  refuses("text of no format", "what is this", malformed, "begins with \"what is this\"");
  const std::string ranks = tiktoken_file();
  refuses("two lines with the same rank", ranks + "eHk= 7\n", malformed,
          "line 259: rank 7 is already on line 8");
  refuses("two lines with the same token", ranks + "YWI= 300\n", malformed,
          "line 259: token \"ab\" is already on");
  refuses("a token that is not base64", ranks + "YWI 300\n", malformed,
          "line 259: \"YWI\" is not base64");
  refuses("a line without a rank", ranks + "eHk=\n", malformed,
          "line 259: \"eHk=\" has no rank");
  refuses("a rank above the limit", ranks + "eHk= 16777216\n", malformed,
          "expected a number from 0 to");
  constexpr std::size_t FIRST_LINE_SIZE = 7; // the line of byte 0
  refuses("a rank file without byte 0", ranks.substr(FIRST_LINE_SIZE), malformed,
          "no token for 1 of the 256 bytes");
  refuses("a GGUF file of a SentencePiece model", gguf_file(false, 3, "llama"), unsupported,
          "SentencePiece BPE");
  refuses("a GGUF file of Gemma 4", gguf_file(false, 3, "gpt2", "gemma4"), unsupported,
          "text, not bytes");
  refuses("a GGUF file of version 1", gguf_file(false, 1), unsupported, "GGUF version 1");
  refuses("a truncated GGUF file", gguf_file().substr(0, 3000), malformed,
          "but the file has only 3000 bytes");
  const std::string body = pretok_file_body(RANKS);
  refuses("a .pretok file of a later version", with_sum(body, 2), unsupported, "got 2");
  refuses("a .pretok file with an unknown flag", with_sum(pretok_file_body(UNKNOWN_FLAG)),
          malformed, "unknown flags");
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

// A file that has shrunk since it was opened. `file` has its old contents, which size() counts;
// read() gives only the first `left` bytes.
class ShrunkSource final : public ByteSource {
public:
  ShrunkSource(const std::string &file, std::size_t left) : file_(file), left_(left) {}

  std::uint64_t size() const override { return file_.size(); }
  std::size_t read(std::uint64_t at, std::uint8_t *to, std::size_t count) override {
    return MemorySource(bytes_of(file_), left_).read(at, to, count);
  }

private:
  const std::string &file_;
  std::size_t left_;
};

void test_sources() {
  // This file is so large that it is read in several blocks.
  const std::string gguf = gguf_file(false, 3, "gpt2", "llama-bpe", 300000);
  for (const std::string &file :
       {tiktoken_file(), gguf_file(true), with_sum(pretok_file_body(RANKS)), gguf}) {
    TokenizerSpec whole; // from memory
    TokenizerSpec spec;  // from a file that has not shrunk
    ShrunkSource all(file, file.size());
    expect(!read(file, whole) && !read_spec(all, spec) &&
               spec.vocabulary.bytes == whole.vocabulary.bytes &&
               spec.vocabulary.ids == whole.vocabulary.ids,
           "a file gives the same tokens as its bytes in memory");
  }
  for (std::size_t left = 0; left < gguf.size(); left += 1 + left / 50) {
    ShrunkSource shrunk(gguf, left);
    TokenizerSpec spec;
    const LoadError error = read_spec(shrunk, spec);
    expect(error.kind == LoadError::MALFORMED, "a GGUF file that shrinks is malformed");
  }
  const std::string ranks = tiktoken_file();
  ShrunkSource shrunk(ranks, 100);
  TokenizerSpec spec;
  expect(read_spec(shrunk, spec).kind == LoadError::MALFORMED,
         "a rank file that shrinks is malformed");
}

// The reader refuses a GGUF file with many keys, because a short key takes more bytes in memory
// than in the file.
void test_many_keys() {
  GgufFile file;
  for (unsigned i = 0; i < 70000; ++i)
    file.add(std::to_string(i), 0, "1");
  refuses("a GGUF file with too many keys", file.file(), LoadError::MALFORMED,
          "is 70000, more than 65536");
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
  for (const std::size_t power : {5, 4, 3, 2, 0})
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
          "merges tokens of more than");
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
  test_sources();
  test_many_keys();
  test_limit_of_merged_bytes();
  survives_damage("a rank file", tiktoken_file(), unchanged);
  survives_damage("a rank file with empty lines", tiktoken_file("\n\n"), unchanged);
  survives_damage("a GGUF file", gguf_file(), unchanged);
  survives_damage("a .pretok file", with_sum(pretok_file_body(RANKS)), unchanged);
  survives_damage("a .pretok file of ranks, with a corrected CRC-32",
                  with_sum(pretok_file_body(RANKS)), summed);
#ifdef PRETOK_JSON
  survives_damage("a tokenizer.json", json_file(), unchanged);
#endif
  survives_damage("a .pretok file of merges and its own preset, with a corrected CRC-32",
                  with_sum(pretok_file_body(OWN_PRESET)), summed);
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
