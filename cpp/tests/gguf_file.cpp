// Tests the reader of GGUF files.
#include "tests/vocabulary_files.hpp"

namespace {

using namespace pretok;
using namespace pretok::file_tests;

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

// Returns a GGUF file. The reader must skip two of its values: a string of `padding` bytes, and
// an array of `padding` / 10 strings. The token `last` has id 259.
std::string gguf_file(bool big_endian = false, std::uint32_t version = 3,
                      const std::string &model = "gpt2", const std::string &pre = "llama-bpe",
                      std::size_t padding = 0, const std::string &last = "last",
                      const std::string &merge = "ab c") {
  GgufFile file{big_endian, version};
  std::vector<std::string> tokens;
  for (unsigned byte = 0; byte < 256; ++byte)
    tokens.push_back(byte_character(byte));
  for (const char *token : {"ab", "abc", "<end>", last.c_str()})
    tokens.push_back(token);
  file.add("model", 8, file.text(model));
  if (!pre.empty())
    file.add("pre", 8, file.text(pre));
  file.add("chat_template", 8, file.text(std::string(padding, 'x')));
  file.add_texts("scores", std::vector<std::string>(padding / 10, "yy"));
  file.add_texts("tokens", tokens);
  std::string types = number(5, 4, big_endian) + number(tokens.size(), 8, big_endian);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    types += number(i == 258 ? 3 : 1, 4, big_endian);
  file.add("token_type", 9, types);
  file.add_texts("merges", {"a b", merge});
  file.add("bos_token_id", 4, number(258, 4, big_endian));
  file.add("add_eos_token", 7, std::string(1, '\0'));
  return file.file();
}

void test_reading() {
  reads("a GGUF file", gguf_file(), true);
  reads("a GGUF file of version 2", gguf_file(false, 2), true);
  reads("a big-endian GGUF file", gguf_file(true), true);
  reads("a GGUF file with weights", gguf_file() + std::string(100, '\xFF'), true);
  TokenizerSpec spec;
  expect(!read(gguf_file(), spec) && spec.preset == "llama3" && spec.why_no_preset.empty(),
         "tokenizer.ggml.pre of a GGUF file chooses the preset");
  spec = {};
  expect(!read(gguf_file(false, 3, "gpt2", ""), spec) && spec.preset.empty() &&
             spec.why_no_preset.find("there is no tokenizer.ggml.pre") == 0,
         "a GGUF file without tokenizer.ggml.pre has no preset");
}

void test_refusing() {
  const auto unsupported = LoadError::UNSUPPORTED;
  const auto malformed = LoadError::MALFORMED;
  refuses("a GGUF file of a WordPiece model", gguf_file(false, 3, "bert"), unsupported,
          "it is WordPiece");
  refuses("a GGUF file of a SentencePiece model without scores", gguf_file(false, 3, "llama"),
          malformed, "expected floats of 32 bits, one for each token");
  TokenizerSpec gemma;
  expect(!read(gguf_file(false, 3, "gpt2", "gemma4"), gemma) &&
             (gemma.text || gemma.characters),
         "a GGUF file of Gemma 4 is read: its tokens are text");
  TokenizerSpec falcon;
  expect(!read(gguf_file(false, 3, "gpt2", "falcon"), falcon) && falcon.preset == "falcon",
         "a GGUF file of Falcon is read");
  // The characters of the bytes 20 and BD.
  refuses("a GGUF file of Falcon with a merge that its split prevents",
          gguf_file(false, 3, "gpt2", "falcon", 0, "\u0120\u00BD", "\u0120 \u00BD"),
          unsupported, "isolates the bytes B2, B3, B9, BC, BD and BE");
  refuses("a GGUF file of version 1", gguf_file(false, 1), unsupported, "GGUF version 1");
  refuses("a truncated GGUF file", gguf_file().substr(0, 3000), malformed,
          "but the file has only 3000 bytes");
  const auto with_last = [](const std::string &token) {
    return gguf_file(false, 3, "gpt2", "llama-bpe", 0, token);
  };
  // Text may become these tokens, and a space stands for no byte, so the tokens are text.
  for (const char *const token : {"x y", " "}) {
    TokenizerSpec spec;
    expect(!read(with_last(token), spec) && spec.text && spec.text->byte_level,
           "a GGUF file with a token that has a space is read");
  }
}

void test_sources() {
  reads_from_file("a big-endian GGUF file", gguf_file(true));
  // This file is so large that it is read in several blocks.
  const std::string gguf = gguf_file(false, 3, "gpt2", "llama-bpe", 300000);
  reads_from_file("a large GGUF file", gguf);
  for (std::size_t left = 0; left < gguf.size(); left += 1 + left / 50) {
    ShrunkSource shrunk(gguf, left);
    TokenizerSpec spec;
    const LoadError error = read_spec(shrunk, spec);
    expect(error.kind == LoadError::MALFORMED, "a GGUF file that shrinks is malformed");
  }
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

} // namespace

int main() {
  test_reading();
  test_refusing();
  test_sources();
  test_many_keys();
  survives_damage("a GGUF file", gguf_file(), unchanged);
  return report();
}
