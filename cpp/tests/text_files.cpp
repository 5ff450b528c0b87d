// Tests the readers of text files: rank files and tokenizer.json. Also tests the errors for
// files of no known format.
#include "tests/vocabulary_files.hpp"

namespace {

using namespace pretok;
using namespace pretok::file_tests;

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

void test_reading() {
  reads("a rank file", tiktoken_file(), false);
  reads("a rank file with Windows line ends", tiktoken_file("\r\n"), false);
  reads("a rank file with empty lines", "\n" + tiktoken_file("\n\n"), false);
  reads("a rank file with a line for the empty token", "= 300\n" + tiktoken_file(), false);
  reads("a tokenizer.json", json_file(), true);
  reads("a tokenizer.json with a byte order mark", "\xef\xbb\xbf" + json_file(), true);
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
  refuses("vocab.json", " {\"a\": 1}", unsupported, "vocab.json");
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
}

void test_sources() {
  const std::string ranks = tiktoken_file();
  reads_from_file("a rank file", ranks);
  ShrunkSource shrunk(ranks, 100);
  TokenizerSpec spec;
  expect(read_spec(shrunk, spec).kind == LoadError::MALFORMED,
         "a rank file that shrinks is malformed");
}

} // namespace

int main() {
  test_reading();
  test_refusing();
  test_sources();
  survives_damage("a rank file", tiktoken_file(), unchanged);
  survives_damage("a rank file with empty lines", tiktoken_file("\n\n"), unchanged);
  survives_damage("a tokenizer.json", json_file(), unchanged);
  return report();
}
