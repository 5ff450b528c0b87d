// Fuzzes the reader of GGUF files. Each file must give an error or a tokenizer that works.
#include "core/unicode/byte_level.hpp"
#include "fuzz/files.hpp"

namespace {

using namespace pretok;

// Returns a GGUF string: its size as 8 bytes, then its bytes.
std::string text(const std::string &value) { return little_endian(value.size(), 8) + value; }

// Returns a file with the 256 byte tokens, "ab", "abc" and up to 5 tokens from the input. The
// numbers of the GGUF value types are 4 for uint32, 5 for int32, 7 for bool, 8 for string, and
// 9 for array.
std::string some_file(Input &input) {
  static const char *const PRE_NAMES[] = {"llama-bpe", "qwen2",   "gpt-2",
                                          "",          "unknown", "gemma4"};
  std::string entries;
  std::uint64_t count = 0;
  const auto add = [&](const std::string &key, std::uint32_t type, const std::string &value) {
    entries += text("tokenizer.ggml." + key) + little_endian(type, 4) + value;
    ++count;
  };
  const auto array = [](std::uint32_t type, std::uint64_t size) {
    return little_endian(type, 4) + little_endian(size, 8);
  };
  add("model", 8, text(input.below(16) == 15 ? "llama" : "gpt2"));
  add("pre", 8, text(PRE_NAMES[input.below(6)]));
  const std::size_t extra_count = input.below(6);
  static const std::string BYTE_TOKENS = [] {
    std::string tokens;
    for (int byte = 0; byte < 256; ++byte)
      tokens += text(byte_characters(std::string(1, static_cast<char>(byte))));
    return tokens;
  }();
  std::string tokens = array(8, 258 + extra_count) + BYTE_TOKENS + text("ab") + text("abc");
  for (std::size_t i = 0; i < extra_count; ++i) {
    const std::vector<std::uint8_t> token = input.take(input.below(8));
    tokens += text(std::string(token.begin(), token.end()));
  }
  add("tokens", 9, tokens);
  if (input.below(8) != 0) {
    static const std::string NORMAL_TYPES = [] {
      std::string types;
      for (std::size_t i = 0; i < 258; ++i)
        types += little_endian(1, 4);
      return types;
    }();
    std::string types = array(5, 258 + extra_count) + NORMAL_TYPES;
    for (std::size_t i = 0; i < extra_count; ++i)
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

// Returns a file with SentencePiece's BPE: the fallback tokens, a few pieces, and up to 5
// tokens from the input, with random scores. The number of the type float32 is 6.
std::string some_pieces(Input &input) {
  std::vector<std::string> tokens = {"<unk>", "<s>"};
  for (int byte = 0; byte < 256; ++byte) {
    const char *const digits = "0123456789ABCDEF";
    tokens.push_back(std::string("<0x") + digits[byte >> 4] + digits[byte & 15] + ">");
  }
  for (const char *const piece : {"\xE2\x96\x81", "a", "b",
                                  "\xE2\x96\x81"
                                  "a",
                                  "ab", "aab"})
    tokens.push_back(piece);
  std::string types = little_endian(2, 4) + little_endian(3, 4);
  for (std::size_t id = 2; id < tokens.size(); ++id)
    types += little_endian(id < 258 ? 6 : 1, 4);
  for (std::size_t left = input.below(6); left != 0; --left) {
    const std::vector<std::uint8_t> token = input.take(input.below(8));
    tokens.emplace_back(token.begin(), token.end());
    types += little_endian(input.below(7), 4);
  }
  const std::string size = little_endian(tokens.size(), 8);
  std::string scores;
  std::string texts;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    texts += text(tokens[id]);
    // The upper half of a float. Most scores descend from -1; some are any number.
    const std::size_t half = input.is_one_in(4) ? input.byte() * std::size_t{256} : 0;
    scores += little_endian(0, 2) + little_endian(half == 0 ? 0xBF80 + id : half, 2);
  }
  const auto entry = [](const std::string &key, std::uint32_t type, const std::string &value) {
    return text("tokenizer.ggml." + key) + little_endian(type, 4) + value;
  };
  std::string entries = entry("model", 8, text("llama")) +
                        entry("tokens", 9, little_endian(8, 4) + size + texts) +
                        entry("token_type", 9, little_endian(5, 4) + size + types) +
                        entry("scores", 9, little_endian(6, 4) + size + scores) +
                        entry("bos_token_id", 4, little_endian(input.below(2), 4));
  const bool has_space = input.coin();
  if (has_space)
    entries += entry("add_space_prefix", 7, little_endian(input.below(2), 1));
  return "GGUF" + little_endian(3, 4) + little_endian(0, 8) +
         little_endian(has_space ? 6 : 5, 8) + entries;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  std::string file;
  const std::size_t choice = input.below(8);
  if (choice % 4 == 3) {
    // Arbitrary bytes as metadata.
    const std::uint8_t count = input.byte();
    const std::vector<std::uint8_t> rest = input.rest();
    file = "GGUF" + little_endian(3, 4) + little_endian(0, 8) + little_endian(count, 8) +
           std::string(rest.begin(), rest.end());
  } else {
    file = choice == 4 ? some_pieces(input) : some_file(input);
    damage(input, file, 4);
  }
  check_file(file, input);
  return 0;
}
