// GGUF files that nobody has checked: a fault, or a tokenizer that works.
#include "formats/byte_level.hpp"
#include "fuzz/files.hpp"

namespace {

using namespace pretok;

std::string text(const std::string &value) { return little_endian(value.size(), 8) + value; }

std::string some_file(Input &input) {
  static const char *const PRES[] = {"llama-bpe", "qwen2", "gpt-2", "", "nobody's", "gemma4"};
  std::string entries;
  std::uint64_t count = 0;
  const auto add = [&](const std::string &key, std::uint32_t kind, const std::string &value) {
    entries += text("tokenizer.ggml." + key) + little_endian(kind, 4) + value;
    ++count;
  };
  const auto array = [](std::uint32_t kind, std::uint64_t size) {
    return little_endian(kind, 4) + little_endian(size, 8);
  };
  add("model", 8, text(input.below(16) == 15 ? "llama" : "gpt2"));
  add("pre", 8, text(PRES[input.below(6)]));
  const std::size_t extra = input.below(6);
  static const std::string BYTES = [] {
    std::string made;
    for (int byte = 0; byte < 256; ++byte)
      made += text(byte_characters(std::string(1, static_cast<char>(byte))));
    return made;
  }();
  std::string tokens = array(8, 258 + extra) + BYTES + text("ab") + text("abc");
  for (std::size_t i = 0; i < extra; ++i) {
    const std::vector<std::uint8_t> token = input.take(input.below(8));
    tokens += text(std::string(token.begin(), token.end()));
  }
  add("tokens", 9, tokens);
  if (input.below(8) != 0) {
    static const std::string NORMAL = [] {
      std::string made;
      for (std::size_t i = 0; i < 258; ++i)
        made += little_endian(1, 4);
      return made;
    }();
    std::string types = array(5, 258 + extra) + NORMAL;
    for (std::size_t i = 0; i < extra; ++i)
      types += little_endian(input.below(8), 4);
    add("token_type", 9, types);
  }
  add("merges", 9, array(8, 2) + text("a b") + text("ab c"));
  if (input.coin())
    add("bos_token_id", 4, little_endian(input.below(2) * 200 + input.byte(), 4));
  if (input.coin())
    add("add_bos_token", 7, little_endian(input.below(3), 1));
  return "GGUF" + little_endian(input.below(8) == 7 ? 2 : 3, 4) + little_endian(0, 8) +
         little_endian(count, 8) + entries;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  std::string file;
  if (input.below(4) == 3) {
    // Metadata of any kind.
    const std::uint8_t count = input.byte();
    const std::vector<std::uint8_t> rest = input.rest();
    file = "GGUF" + little_endian(3, 4) + little_endian(0, 8) + little_endian(count, 8) +
           std::string(rest.begin(), rest.end());
  } else {
    file = some_file(input);
    damage(input, file, 4);
  }
  check_file(file, input);
  return 0;
}
