// Fuzzes pretok_tokenizer_from_gguf_values, with values that may be invalid. The result must be
// that of the file with the same values, and the facts of a tokenizer must fit together.
#include "capi/pretok.h"
#include "core/unicode/byte_level.hpp"
#include "fuzz/gguf_arrays.hpp"
#include "fuzz/input.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace pretok;

constexpr std::size_t WIDTHS[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}; // by pretok_gguf_type

struct Free {
  void operator()(pretok_tokenizer *object) const { pretok_tokenizer_free(object); }
};
using Tokenizer = std::unique_ptr<pretok_tokenizer, Free>;

std::string key(const char *name) { return std::string("tokenizer.ggml.") + name; }

// Appends up to 7 tokens of the input, and their types and scores.
void add_tokens(Input &input, std::vector<std::string> &tokens,
                std::vector<std::int32_t> &types, std::vector<float> &scores) {
  static const char *const TOKENS[] = {"ab",   "abc",          "<|im_end|>",   "</s>", "<x>",
                                       "<s>",  "\u2581a",      "\u2581\u2581", "a",    "",
                                       "\xC3", "\u00e9\u0120", "<0x41>",       "b c"};
  for (std::size_t left = input.below(8); left != 0; --left) {
    const std::uint8_t choice = input.byte();
    if (choice < 0xC0) {
      tokens.emplace_back(TOKENS[choice % std::size(TOKENS)]);
    } else {
      const std::vector<std::uint8_t> token = input.take(choice % 8);
      tokens.emplace_back(token.begin(), token.end());
    }
    const std::uint8_t kind = input.byte();
    types.push_back(kind < 8 ? kind - 1 : kind % 6);
    scores.push_back(kind < 128 ? -1.0F - static_cast<float>(kind) : -1000.0F);
  }
}

// Returns values of a small vocabulary: bytes of text, or the pieces of SentencePiece.
GgufArrays some_values(Input &input) {
  static const char *const MODELS[] = {"gpt2",  "gpt2",   "gpt2", "llama",
                                       "llama", "gemma4", "t5"};
  static const char *const PRE_NAMES[] = {"gpt-2",  "llama-bpe", "qwen2", "gemma4",
                                          "falcon", "unknown",   ""};
  const std::uint8_t shape = input.byte();
  const std::string model = MODELS[input.below(std::size(MODELS))];
  std::vector<std::string> tokens;
  std::vector<std::int32_t> types;
  std::vector<float> scores;
  // Making 256 tokens takes most of the time, so few inputs have tokens for all bytes.
  const bool is_small = (shape & 1) != 0 || shape >= 0x40;
  const bool is_fallback = model == "llama" && !is_small;
  for (int byte = is_small ? 'a' : 0; byte < (is_small ? 'd' : 256); ++byte) {
    static constexpr char DIGITS[] = "0123456789ABCDEF";
    tokens.push_back(is_fallback
                         ? std::string("<0x") + DIGITS[byte / 16] + DIGITS[byte % 16] + '>'
                         : byte_characters(std::string(1, static_cast<char>(byte))));
    types.push_back(is_fallback ? PRETOK_TYPE_BYTE : PRETOK_TYPE_NORMAL);
    scores.push_back(0);
  }
  add_tokens(input, tokens, types, scores);
  std::vector<std::string> merges;
  for (std::size_t left = input.below(4); left != 0; --left) {
    static const char *const MERGES[] = {"a b", "ab c", "a  b", "b c", "\u2581 a", "ab"};
    merges.emplace_back(MERGES[input.below(std::size(MERGES))]);
  }
  if (input.below(16) == 15)
    types.resize(input.below(types.size() + 1));

  GgufArrays values;
  const bool has_sizes = (shape & 2) != 0;
  values.string(key("model"), model, has_sizes);
  values.string(key("pre"), PRE_NAMES[input.below(std::size(PRE_NAMES))], has_sizes);
  values.strings(key("tokens"), true, tokens, has_sizes);
  if ((shape & 4) == 0)
    values.numbers(key("token_type"), PRETOK_GGUF_INT32, true, types);
  if (model == "llama")
    values.numbers(key("scores"), PRETOK_GGUF_FLOAT32, true, scores);
  else
    values.strings(key("merges"), true, merges, has_sizes);
  const auto limit = static_cast<std::uint32_t>(tokens.size() + 2);
  for (const char *role : {"bos", "eos", "unknown", "eot", "fim_pre"})
    if (const std::uint8_t choice = input.byte(); choice >= 0x80)
      values.number(key(role) + "_token_id", PRETOK_GGUF_UINT32, limit - 1 - choice % 16U);
  const std::uint8_t flags = input.byte();
  if ((flags & 1) != 0)
    values.number(key("add_bos_token"), PRETOK_GGUF_BOOL, std::uint8_t((flags >> 1) % 3));
  if ((flags & 8) != 0)
    values.number(key("add_eos_token"), PRETOK_GGUF_BOOL, std::uint8_t(flags >> 4 & 1));
  if ((flags & 32) != 0)
    values.string("tokenizer.chat_template", "{{ messages }}", has_sizes);
  if ((flags & 64) != 0)
    values.string("general.name", "Phi-3", has_sizes);
  if ((flags & 128) != 0)
    values.string("general.architecture", "llama", has_sizes);
  return values;
}

// Adds a value of any type, perhaps with a key that the values have already.
void add_any_value(Input &input, GgufArrays &values) {
  static const char *const KEYS[] = {"model",         "pre",          "scores", "merges",
                                     "add_bos_token", "bos_token_id", "tokens", "token_type"};
  const std::string name = key(KEYS[input.below(std::size(KEYS))]);
  const std::uint8_t type = input.byte();
  if (type % 16 == PRETOK_GGUF_STRING) {
    values.strings(name, input.coin(), {"a", "\xFF"}, input.coin());
  } else {
    const std::vector<std::uint8_t> bytes = input.take(8);
    if (bytes.size() < 8)
      return;
    const std::size_t width = type % 16 < std::size(WIDTHS) ? WIDTHS[type % 16] : 8;
    pretok_gguf_value &value = values.numbers(name, PRETOK_GGUF_UINT8, input.coin(), bytes);
    const int number = type % 16; // perhaps not a pretok_gguf_type
    std::memcpy(&value.type, &number, sizeof number);
    value.count = width == 0 ? 8 : 8 / width;
  }
}

// Makes a value invalid in a way that a caller may cause.
void damage(Input &input, std::vector<pretok_gguf_value> &values) {
  pretok_gguf_value &value = values[input.below(values.size())];
  switch (input.below(6)) {
  case 0:
    value.key = nullptr;
    break;
  case 1:
    value.data = nullptr;
    break;
  case 2:
    value.is_array = !value.is_array;
    break;
  case 3:
    value.count = 0;
    break;
  case 4:
    std::swap(value.key, values[input.below(values.size())].key);
    break;
  default:
    if (value.count > 1)
      value.count -= 1;
  }
}

bool is_writable(const pretok_gguf_value &value) {
  int type;
  std::memcpy(&type, &value.type, sizeof type);
  if (value.key == nullptr || type < 0 || type > PRETOK_GGUF_FLOAT64 || type == 9 ||
      (!value.is_array && value.count != 1) || (value.data == nullptr && value.count != 0))
    return false;
  return true;
}

template <typename Number> void append(std::string &file, Number number) {
  file.append(reinterpret_cast<const char *>(&number), sizeof number);
}

// Returns the GGUF file with these values.
std::string file_of(const std::vector<pretok_gguf_value> &values) {
  std::string file = "GGUF";
  append(file, std::uint32_t{3});
  append(file, std::uint64_t{0});
  append(file, std::uint64_t{values.size()});
  const auto text = [&](std::string_view bytes) {
    append(file, std::uint64_t{bytes.size()});
    file += bytes;
  };
  for (const pretok_gguf_value &value : values) {
    text(value.key);
    if (value.is_array)
      append(file, std::uint32_t{9});
    append(file, static_cast<std::uint32_t>(value.type));
    if (value.is_array)
      append(file, std::uint64_t{value.count});
    for (std::size_t i = 0; i < value.count; ++i)
      if (value.type == PRETOK_GGUF_STRING) {
        const char *const bytes = static_cast<const char *const *>(value.data)[i];
        text({bytes, value.sizes != nullptr ? value.sizes[i] : std::strlen(bytes)});
      } else {
        const std::size_t width = WIDTHS[value.type];
        file.append(static_cast<const char *>(value.data) + i * width, width);
      }
  }
  return file;
}

// Checks that what samplers ask about a tokenizer fits together.
void check_facts(const pretok_tokenizer *tokenizer) {
  pretok_vocabulary all{};
  all.struct_size = sizeof all;
  pretok_token_facts facts{};
  facts.struct_size = sizeof facts;
  check(pretok_vocabulary_of(tokenizer, &all, nullptr) == PRETOK_OK &&
            pretok_token_facts_of(tokenizer, &facts, nullptr) == PRETOK_OK,
        "a tokenizer has facts");
  check(all.count == pretok_vocab_size(tokenizer), "there are offsets for all ids");
  const auto text_of = [&](std::uint32_t id) {
    return std::string_view(all.bytes + all.offsets[id], all.offsets[id + 1] - all.offsets[id]);
  };
  std::size_t token_count = 0;
  std::size_t longest = 0;
  for (std::uint32_t id = 0; id < all.count; ++id) {
    const char *bytes = nullptr;
    std::size_t size = 0;
    pretok_token_type type = PRETOK_TYPE_UNDEFINED;
    float score = 0;
    const bool has_token =
        pretok_rendered_bytes(tokenizer, id, &bytes, &size, nullptr) == PRETOK_OK;
    check(has_token == (pretok_token_type_of(tokenizer, id, &type, nullptr) == PRETOK_OK) &&
              has_token == (pretok_token_score(tokenizer, id, &score, nullptr) == PRETOK_OK),
          "the queries know the same ids");
    check(text_of(id) == std::string_view(bytes == nullptr ? "" : bytes, size),
          "all tokens at once have the bytes of each token");
    check(!has_token || (all.types[id] == type && type <= PRETOK_TYPE_BYTE),
          "all tokens at once have the type of each token");
    token_count += has_token;
    longest = std::max(longest, size);
  }
  check(all.sorted_count == token_count && facts.max_token_bytes == longest,
        "the facts agree about the number and the size of the tokens");
  for (std::size_t i = 1; i < all.sorted_count; ++i) {
    const int order = text_of(all.sorted[i - 1]).compare(text_of(all.sorted[i]));
    check(order < 0 || (order == 0 && all.sorted[i - 1] < all.sorted[i]),
          "the sorted ids are in the order of their bytes");
  }
  for (const std::uint32_t id : facts.roles)
    check(id == PRETOK_NO_ID || id < all.count, "roles have ids of tokens");
  for (std::size_t i = 0; i < facts.end_id_count; ++i)
    check(facts.end_ids[i] < all.count && (i == 0 || facts.end_ids[i - 1] < facts.end_ids[i]),
          "ids that end a generation are ids of tokens, and ascend");
}

// Checks that the ids of a text decode, and that two tokenizers give the same ids.
void check_ids(const pretok_tokenizer *tokenizer, const pretok_tokenizer *of_file,
               const std::vector<std::uint8_t> &text, int special) {
  const auto *const data = reinterpret_cast<const char *>(text.data());
  pretok_encode_options options{};
  options.struct_size = sizeof options;
  options.special = static_cast<pretok_special>(special);
  options.add_special_tokens = true;
  std::vector<std::uint32_t> ids(pretok_encode_bound(tokenizer, text.size()));
  std::size_t count = 0;
  const auto encode = [&](const pretok_tokenizer *one) {
    return pretok_encode(one, text.empty() ? "" : data, text.size(), &options, ids.data(),
                         ids.size(), &count, nullptr);
  };
  const pretok_status status = encode(tokenizer);
  check(status == PRETOK_OK || status == PRETOK_NO_TOKEN || status == PRETOK_SPECIAL_TOKEN,
        "encoding succeeds, or names a byte or a special token");
  // The rest of the buffer may hold anything.
  const auto written = ids.begin() + static_cast<std::ptrdiff_t>(count);
  const std::vector<std::uint32_t> first(ids.begin(), written);
  check(of_file == nullptr || (encode(of_file) == status && count == first.size() &&
                               std::equal(first.begin(), first.end(), ids.begin())),
        "the file with the values gives the same ids");
  if (status != PRETOK_OK)
    return;
  std::size_t size = 0;
  check(pretok_decode(tokenizer, first.data(), first.size(), false, nullptr, 0, &size,
                      nullptr) == PRETOK_OK,
        "the ids of a text decode");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  GgufArrays arrays = some_values(input);
  const std::uint8_t choice = input.byte();
  if (choice >= 0xC0)
    add_any_value(input, arrays);
  std::vector<pretok_gguf_value> values = arrays.values();
  if (choice % 8 == 7)
    damage(input, values);
  pretok_load_options options{};
  options.struct_size = sizeof options;
  options.default_preset = "default";
  // Building a vocabulary takes most of the time. With an unknown preset, loading only reads.
  if (!input.is_one_in(4))
    options.preset = "unknown";
  pretok_tokenizer *made = nullptr;
  pretok_error error{};
  const pretok_status status =
      pretok_tokenizer_from_gguf_values(values.data(), values.size(), &options, &made, &error);
  const Tokenizer tokenizer(made);
  check((status == PRETOK_OK) == (made != nullptr), "only success makes a tokenizer");
  check(status == PRETOK_OK || error.message[0] != '\0', "an error has a message");
  const bool is_valid = std::all_of(values.begin(), values.end(), is_writable);
  check(is_valid || status == PRETOK_INVALID_ARGUMENT, "invalid values are refused");
  Tokenizer of_file;
  if (is_valid && input.is_one_in(16)) {
    const std::string file = file_of(values);
    pretok_tokenizer *loaded = nullptr;
    check(pretok_tokenizer_from_memory(file.data(), file.size(), &options, &loaded, nullptr) ==
              status,
          "the file with the values has the same status");
    of_file.reset(loaded);
  }
  if (status == PRETOK_OK) {
    check_facts(tokenizer.get());
    check_ids(tokenizer.get(), of_file.get(), input.text(), choice % 4);
  }
  return 0;
}
