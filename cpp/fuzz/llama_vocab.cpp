// Fuzzes compat/llama_vocab.h: any texts, ids and flags, and buffers of any size. The results
// must be those of naive implementations, and no call may write after the end of a buffer.
#include "compat/llama_vocab.h"
#include "core/unicode/byte_level.hpp"
#include "core/unicode/utf8.hpp"
#include "fuzz/gguf_arrays.hpp"
#include "fuzz/input.hpp"

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace pretok;

struct Token {
  std::string stored;
  std::string rendered; // of tokens that are text
  pretok_token_type type;
  bool is_control = false;
};

// A vocabulary, and what its file says.
struct Model {
  std::vector<Token> tokens;
  bool is_text = false; // tokens are text, as in SentencePiece
  bool adds_bos = false;
  bool adds_eos = false;
  bool cleans = false;
  bool strips = false;
  std::int32_t bos = 0;
  std::int32_t eos = 0;
  pretok_tokenizer *tokenizer = nullptr;
  pretok_llama_vocab vocab{};
};

// Adds tokens of all types. llama.cpp takes <|im_end|> and <fim_prefix> for control tokens.
void add_tokens(Model &model) {
  const std::string space = model.is_text ? "\u2581" : "\u0120";
  const auto add = [&](const std::string &stored, const std::string &rendered,
                       pretok_token_type type, bool is_control = false) {
    model.tokens.push_back({stored, rendered, type, is_control});
  };
  add("<unk>", "", PRETOK_TYPE_UNKNOWN);
  model.bos = 1;
  model.eos = 2;
  add("<s>", "", PRETOK_TYPE_CONTROL, true);
  add("</s>", "", PRETOK_TYPE_CONTROL, true);
  for (int byte = 0; byte < 256; ++byte) {
    static constexpr char DIGITS[] = "0123456789ABCDEF";
    const std::string rendered(1, static_cast<char>(byte));
    if (model.is_text)
      add(std::string("<0x") + DIGITS[byte / 16] + DIGITS[byte % 16] + '>', rendered,
          PRETOK_TYPE_BYTE);
    else
      add(byte_characters(rendered), rendered, PRETOK_TYPE_NORMAL);
  }
  add(space + "a", " a", PRETOK_TYPE_NORMAL);
  add(space + space, "  ", PRETOK_TYPE_NORMAL);
  add("ab", "ab", PRETOK_TYPE_NORMAL);
  if (model.is_text)
    for (const char *const piece : {"\u2581", "a", "b", "'", "s", "?"})
      add(piece, piece == std::string("\u2581") ? " " : piece, PRETOK_TYPE_NORMAL);
  add("<user>", "", PRETOK_TYPE_USER_DEFINED);
  add(" user ", "", PRETOK_TYPE_USER_DEFINED);
  add("unused", "", PRETOK_TYPE_UNUSED);
  add("undefined", "", PRETOK_TYPE_UNDEFINED);
  add("<|im_end|>", "", PRETOK_TYPE_USER_DEFINED, true);
  add("<fim_prefix>", "", PRETOK_TYPE_CONTROL, true);
}

void load(Model &model) {
  add_tokens(model);
  std::vector<std::string> texts;
  std::vector<std::int32_t> types;
  std::vector<float> scores;
  for (const Token &token : model.tokens) {
    scores.push_back(-static_cast<float>(texts.size()));
    texts.push_back(token.stored);
    types.push_back(token.type);
  }
  GgufArrays values;
  const std::string prefix = "tokenizer.ggml.";
  values.string(prefix + "model", model.is_text ? "llama" : "gpt2", true);
  values.string(prefix + "pre", "gpt-2", true);
  values.strings(prefix + "tokens", true, texts, true);
  values.numbers(prefix + "token_type", PRETOK_GGUF_INT32, true, types);
  values.numbers(prefix + "scores", PRETOK_GGUF_FLOAT32, true, scores);
  values.strings(prefix + "merges", true, {"\u0120 a", "\u0120 \u0120", "a b"}, true);
  values.number(prefix + "bos_token_id", PRETOK_GGUF_UINT32, std::uint32_t(model.bos));
  values.number(prefix + "eos_token_id", PRETOK_GGUF_UINT32, std::uint32_t(model.eos));
  values.number(prefix + "add_bos_token", PRETOK_GGUF_BOOL, std::uint8_t(model.adds_bos));
  values.number(prefix + "add_eos_token", PRETOK_GGUF_BOOL, std::uint8_t(model.adds_eos));
  values.number(prefix + "add_space_prefix", PRETOK_GGUF_BOOL, std::uint8_t(model.strips));
  pretok_error error{};
  check(pretok_tokenizer_from_gguf_values(values.values().data(), values.values().size(),
                                          nullptr, &model.tokenizer, &error) == PRETOK_OK,
        error.message);
  check(pretok_llama_vocab_init(&model.vocab, model.tokenizer, model.cleans, nullptr) ==
            PRETOK_OK,
        "the header accepts a tokenizer");
}

// Returns one of 32 models, made at its first use.
const Model &model_of(std::uint8_t flags) {
  static std::array<Model, 32> cache;
  Model &model = cache[flags % 32];
  if (model.tokenizer == nullptr) {
    model.is_text = (flags & 1) != 0;
    model.adds_bos = (flags & 2) != 0;
    model.adds_eos = (flags & 4) != 0;
    model.cleans = (flags & 8) != 0;
    model.strips = (flags & 16) != 0;
    load(model);
  }
  return model;
}

const Token *token_of(const Model &model, std::int32_t id) {
  return id >= 0 && std::size_t(id) < model.tokens.size() ? &model.tokens[std::size_t(id)]
                                                          : nullptr;
}

std::string naive_piece(const Model &model, std::int32_t id, std::int32_t lstrip,
                        bool special) {
  const Token *const token = token_of(model, id);
  if (token == nullptr)
    return "";
  std::string text;
  if (token->is_control || token->type == PRETOK_TYPE_UNKNOWN)
    text = special ? token->stored : "";
  else if (token->type == PRETOK_TYPE_NORMAL || token->type == PRETOK_TYPE_BYTE)
    text = token->rendered;
  else if (token->type == PRETOK_TYPE_USER_DEFINED)
    text = token->stored;
  while (lstrip-- > 0 && !text.empty() && text[0] == ' ')
    text.erase(0, 1);
  return text;
}

// Erases each space before a text of `texts`, from left to right.
std::string without_spaces(const std::string &text, const std::vector<std::string> &texts) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    bool is_erased = false;
    for (const std::string &next : texts)
      is_erased =
          is_erased || (text[at] == ' ' && text.compare(at + 1, next.size(), next) == 0);
    if (!is_erased)
      result += text[at];
  }
  return result;
}

std::string naive_clean(std::string text) {
  text = without_spaces(text, {"?", "!", ".", ","});
  for (std::size_t at = 0; (at = text.find(" ' ", at)) != std::string::npos; ++at)
    text.replace(at, 3, "'");
  return without_spaces(text, {"'s", "'m", "'re", "'ve"});
}

std::string naive_text(const Model &model, std::vector<std::int32_t> ids, bool removes,
                       bool special, std::size_t &unclean) {
  bool strips = model.strips;
  if (removes && model.adds_bos && !ids.empty() && ids[0] == model.bos) {
    ids.erase(ids.begin());
    strips = false;
  }
  if (removes && model.adds_eos && !ids.empty() && ids.back() == model.eos)
    ids.pop_back();
  std::string text;
  for (const std::int32_t id : ids) {
    text += naive_piece(model, id, strips ? 1 : 0, special);
    strips = false;
  }
  unclean = text.size();
  return model.cleans ? naive_clean(text) : text;
}

// Calls `write(buffer, capacity)`, and checks its contract for a result of `needed` elements.
// Returns the result, or nothing if the buffer is too small.
template <typename T, typename Write>
std::vector<T> written(std::size_t capacity, std::size_t needed, Write write) {
  std::vector<T> buffer(capacity); // a sanitizer catches writes after its end
  const std::int32_t result = write(buffer.data(), static_cast<std::int32_t>(capacity));
  if (capacity < needed) {
    check(result == -static_cast<std::int32_t>(needed), "a small buffer gives the needed size");
    return {};
  }
  check(result >= 0 && std::size_t(result) <= needed, "a large buffer gets the result");
  buffer.resize(std::size_t(result));
  return buffer;
}

void check_tokenize(const Model &model, Input &input) {
  const std::uint8_t flags = input.byte();
  const bool add_special = (flags & 1) != 0;
  const bool parse_special = (flags & 2) != 0;
  const std::size_t room = flags >> 2;
  const std::vector<std::uint8_t> bytes = input.text();
  const auto *const text = reinterpret_cast<const char *>(bytes.data());
  const auto size = static_cast<std::int32_t>(bytes.size());
  const auto call = [&](std::int32_t *ids, std::int32_t capacity) {
    return pretok_llama_tokenize(&model.vocab, bytes.empty() ? "" : text, size, ids, capacity,
                                 add_special, parse_special);
  };
  const std::int32_t needed = -call(nullptr, 0);
  check(needed >= 0, "without a buffer, the result is the needed size");
  const auto count = std::size_t(needed);
  const std::vector<std::int32_t> ids = written<std::int32_t>(count, count, call);
  check(ids.size() == count, "all ids are written");
  check(written<std::int32_t>(room, count, call) ==
            (room < count ? std::vector<std::int32_t>() : ids),
        "a buffer of any size gets the same ids");
  std::string decoded;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool is_end = add_special && ((i == 0 && model.adds_bos && ids[i] == model.bos) ||
                                        (i + 1 == ids.size() && model.adds_eos));
    const Token *const token = token_of(model, ids[i]);
    check(token != nullptr, "ids are ids of tokens");
    check(is_end || parse_special ||
              (token->type != PRETOK_TYPE_CONTROL && token->type != PRETOK_TYPE_UNKNOWN),
          "control tokens in a text are text unless they are parsed");
    decoded += is_end ? "" : naive_piece(model, ids[i], 0, true);
  }
  const std::string whole(bytes.begin(), bytes.end());
  // SentencePiece writes a space as U+2581, and has no ids for invalid bytes.
  if (!model.is_text || (is_utf8(whole) && whole.find("\u2581") == std::string::npos))
    check(decoded == whole || decoded == ' ' + whole,
          "the pieces of all ids are the text, perhaps after a space");
}

void check_pieces(const Model &model, Input &input) {
  const std::uint8_t flags = input.byte();
  const bool removes = (flags & 1) != 0;
  const bool special = (flags & 2) != 0;
  const std::size_t room = flags >> 2;
  std::vector<std::int32_t> ids;
  if ((flags & 4) != 0)
    ids.push_back(model.bos);
  for (std::size_t left = input.below(24); left != 0 && input.left() != 0; --left) {
    const std::uint8_t choice = input.byte();
    static constexpr char FREQUENT[] = " ?!.,'smrvea";
    if (choice < 0x60)
      ids.push_back(3 + FREQUENT[choice % 12]);
    else if (choice < 0xF0)
      ids.push_back(choice < 0xA0 ? choice % 4 : 256 + choice % 24);
    else
      ids.push_back(static_cast<std::int32_t>(input.word()));
  }
  if ((flags & 8) != 0)
    ids.push_back(model.eos);
  std::size_t unclean = 0;
  const std::string expected = naive_text(model, ids, removes, special, unclean);
  for (const std::size_t capacity : {std::size_t{0}, room, unclean}) {
    const std::vector<char> text =
        written<char>(capacity, unclean, [&](char *to, std::int32_t size) {
          return pretok_llama_detokenize(&model.vocab, ids.data(),
                                         static_cast<std::int32_t>(ids.size()), to, size,
                                         removes, special);
        });
    check(capacity < unclean || std::string(text.begin(), text.end()) == expected,
          "detokenize gives the text of a naive implementation");
  }
  for (const std::int32_t id : ids) {
    const auto lstrip = static_cast<std::int32_t>(input.below(4));
    const std::string piece = naive_piece(model, id, lstrip, special);
    for (const std::size_t capacity : {input.below(4), piece.size()}) {
      const std::vector<char> text =
          written<char>(capacity, piece.size(), [&](char *to, std::int32_t size) {
            return pretok_llama_token_to_piece(&model.vocab, id, to, size, lstrip, special);
          });
      check(capacity < piece.size() || std::string(text.begin(), text.end()) == piece,
            "token_to_piece gives the piece of a naive implementation");
    }
    const Token *const token = token_of(model, id);
    check(pretok_llama_vocab_is_control(&model.vocab, id) == (token && token->is_control),
          "is_control knows the control tokens");
    check(pretok_llama_vocab_is_eog(&model.vocab, id) ==
              (id == model.eos || (token && token->stored == "<|im_end|>")),
          "is_eog knows the tokens that end a generation");
  }
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const std::uint8_t choice = input.byte();
  const Model &model = model_of(choice / 4);
  if (choice % 4 == 0)
    check_tokenize(model, input);
  else
    check_pieces(model, input);
  return 0;
}
