// Fuzzes compat/tokenizers_cpp through its C functions: any texts and ids, and any texts as
// vocab.json and merges.txt. The results must be those of naive implementations.
#include "compat/tokenizers_cpp/tokenizers_c.h"
#include "core/unicode/byte_level.hpp"
#include "core/unicode/utf8.hpp"
#include "fuzz/input.hpp"
#include "fuzz/text_model.hpp"

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace pretok;

struct Free {
  void operator()(void *handle) const { tokenizers_free(handle); }
};
using Handle = std::unique_ptr<void, Free>;
using Ids = std::vector<std::uint32_t>;

std::string quoted(const std::string &text) {
  std::string json = "\"";
  for (const char each : text)
    (json += each == '"' || each == '\\' ? "\\" : "") += each;
  return json + '"';
}

// Returns the members of a vocabulary: the 256 byte tokens, "ab", "abc", " a" and "<e>".
std::string byte_tokens() {
  std::string members;
  for (int byte = 0; byte < 256; ++byte)
    members += quoted(byte_characters(std::string(1, static_cast<char>(byte)))) + ':' +
               std::to_string(byte) + ',';
  return members + "\"ab\":256,\"abc\":257,\"\u0120a\":258,\"<e>\":259";
}

std::string byte_level_json() {
  return "{\"added_tokens\":[{\"id\":259,\"content\":\"<e>\",\"single_word\":false,\"lstrip\":"
         "false,\"rstrip\":false,\"normalized\":false,\"special\":true}],\"normalizer\":null,"
         "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
         "\"trim_offsets\":true,\"use_regex\":true},\"post_processor\":{\"type\":"
         "\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<e>\",\"type_id\":0}},"
         "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}],\"pair\":[],\"special_tokens\":{\"<e>\":"
         "{\"id\":\"<e>\",\"ids\":[259],\"tokens\":[\"<e>\"]}}},\"decoder\":{\"type\":"
         "\"ByteLevel\"},\"model\":{\"type\":\"BPE\",\"vocab\":{" +
         byte_tokens() + "},\"merges\":[\"a b\",\"ab c\",\"\u0120 a\"]}}";
}

Handle load_json(const std::string &json) {
  Handle handle(tokenizers_new_from_str(json.data(), json.size()));
  check(handle != nullptr, tokenizers_last_error());
  return handle;
}

// Returns whether `bytes` is the start of a character, tried with all classes of next bytes.
bool starts_character(const std::string &bytes) {
  for (std::size_t i = 1; i < bytes.size(); ++i)
    if ((bytes[i] & 0xC0) != 0x80)
      return false;
  for (std::size_t rest = 0; rest < 4; ++rest)
    for (const char second : {'\x80', '\x90', '\xA0'}) {
      std::string whole = bytes;
      for (std::size_t i = 0; i < rest; ++i)
        whole += whole.size() == 1 ? second : '\x80';
      if (is_utf8(whole))
        return true;
    }
  return false;
}

// Returns the text with U+FFFD in place of each longest start of a character, or invalid byte.
std::string naive_mended(const std::string &text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 1;
    while (at + length < text.size() && length < 4 &&
           starts_character(text.substr(at, length + 1)))
      ++length;
    const std::string part = text.substr(at, length);
    result += is_utf8(part) ? part : "\uFFFD";
    at += length;
  }
  return result;
}

Ids encode(TokenizerHandle handle, const std::string &text, bool adds) {
  TokenizerEncodeResult result;
  tokenizers_encode(handle, text.data(), text.size(), adds, &result);
  const Ids ids(result.token_ids, result.token_ids + result.len);
  tokenizers_free_encode_results(&result, 1);
  check(result.token_ids == nullptr && result.len == 0, "freeing clears a result");
  return ids;
}

std::string decode(TokenizerHandle handle, const Ids &ids, bool skips) {
  tokenizers_decode(handle, ids.data(), ids.size(), skips);
  const char *text = nullptr;
  std::size_t size = 0;
  tokenizers_get_decode_str(handle, &text, &size);
  check(text != nullptr && text[size] == '\0', "a decoded text has a final NUL");
  return {text, size};
}

std::string token_of(TokenizerHandle handle, std::uint32_t id) {
  const char *text = nullptr;
  std::size_t size = 0;
  tokenizers_id_to_token(handle, id, &text, &size);
  return {text, size};
}

void check_names(TokenizerHandle handle, std::uint32_t id) {
  const std::string text = token_of(handle, id);
  std::int32_t found = 0;
  tokenizers_token_to_id(handle, text.data(), text.size(), &found);
  check(text.empty() || (found >= 0 && token_of(handle, std::uint32_t(found)) == text),
        "the text of a token finds a token with this text");
}

// Checks texts, ids and tokens of one of two models.
void check_calls(Input &input) {
  static const Handle BYTE_LEVEL = load_json(byte_level_json());
  static const Handle TEXT = load_json(
      text_model("{\"type\": \"Sequence\", \"decoders\": [{\"type\": \"ByteFallback\"}]}"));
  const std::uint8_t flags = input.byte();
  const bool is_text = (flags & 1) != 0;
  const bool adds = (flags & 2) != 0;
  TokenizerHandle handle = (is_text ? TEXT : BYTE_LEVEL).get();
  Ids any;
  for (std::size_t left = flags >> 4; left != 0; --left)
    any.push_back(input.coin() ? input.byte() : input.word() % 300);
  const std::string some = decode(handle, any, (flags & 8) != 0);
  check(is_utf8(some), "any ids decode to UTF-8");
  Ids known;
  for (const std::uint32_t id : any) {
    check_names(handle, id);
    if (!token_of(handle, id).empty())
      known.push_back(id);
  }
  check(decode(handle, known, (flags & 8) != 0) == some, "ids without a token have no text");

  const std::vector<std::uint8_t> bytes = input.text();
  const std::string text(bytes.begin(), bytes.end());
  const std::string mended = naive_mended(text);
  const Ids ids = encode(handle, text, adds);
  check(encode(handle, mended, adds) == ids, "U+FFFD replaces invalid bytes");
  if (!is_text)
    check(decode(handle, ids, false) == (adds ? "<e>" : "") + mended, "ids decode to the text");
  const char *const texts[] = {text.data(), "", mended.data()};
  std::size_t sizes[] = {text.size(), 0, mended.size()};
  TokenizerEncodeResult results[3];
  tokenizers_encode_batch(handle, const_cast<const char **>(texts), sizes, 3, adds, results);
  for (const int i : {0, 2})
    check(Ids(results[i].token_ids, results[i].token_ids + results[i].len) == ids,
          "a batch has the ids of each text");
  check(results[1].len == (adds && !is_text ? 1 : 0), "an empty text has only special tokens");
  tokenizers_free_encode_results(results, 3);
}

// Checks a model of a vocab.json and a merges.txt, and perhaps more tokens.
void check_files(Input &input) {
  static const std::string BYTES = byte_tokens();
  static const char *const TOKENS[] = {"bc", "\u0120b", "<x>", "a\\u0062c", "d\\n", "\\ud800"};
  static const char *const LINES[] = {"a b",   "ab c", "#version: 0.2", "b c", "a",
                                      "a b c", "x y"};
  const std::uint8_t flags = input.byte();
  bool is_valid = (flags & 2) == 0;
  std::string vocab = "{" + BYTES;
  for (std::size_t left = input.below(4); left != 0; --left) {
    is_valid = false; // two tokens may have the same id
    const char *const token = TOKENS[input.below(std::size(TOKENS))];
    vocab += std::string(",\"") + token + "\": " + std::to_string(260 + input.below(8));
  }
  vocab += (flags & 0x10) != 0 ? ",\"other\": [1, {}]}" : "}";
  std::string merges;
  for (std::size_t left = input.below(6); left != 0; --left) {
    const std::size_t line = input.below(std::size(LINES));
    is_valid = is_valid && line < 3;
    merges += std::string(LINES[line]) + (input.coin() ? "\r\n" : "\n");
  }
  std::string more;
  if ((flags & 1) != 0)
    more = "{\"<more>\": 280}";
  if ((flags & 2) != 0) {
    const std::vector<std::uint8_t> rest = input.take(1 + input.below(16));
    const std::string text(rest.begin(), rest.end());
    std::string &damaged = (flags & 4) != 0 ? vocab : (flags & 8) != 0 ? merges : more;
    damaged.insert(damaged.size() - (damaged.empty() ? 0 : 1), text);
  }
  const Handle handle(byte_level_bpe_tokenizers_new_from_str(
      vocab.data(), vocab.size(), merges.data(), merges.size(), more.data(), more.size()));
  if (handle == nullptr) {
    check(!is_valid, "valid files load");
    check(tokenizers_last_error()[0] != '\0', "an error has a message");
    return;
  }
  std::size_t count = 0;
  tokenizers_get_vocab_size(handle.get(), &count);
  check(count >= 260, "a vocabulary has all byte tokens");
  for (std::uint32_t id = 250; id < 290; ++id)
    check_names(handle.get(), id);
  const std::vector<std::uint8_t> bytes = input.text();
  const std::string text(bytes.begin(), bytes.end());
  check(decode(handle.get(), encode(handle.get(), text, false), false) == naive_mended(text),
        "ids decode to the text");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const std::uint8_t choice = input.byte();
  if (choice == 0) { // any bytes as a tokenizer.json
    const std::vector<std::uint8_t> rest = input.rest();
    const std::string json = '{' + std::string(rest.begin(), rest.end());
    const Handle handle(tokenizers_new_from_str(json.data(), json.size()));
    check(handle != nullptr || tokenizers_last_error()[0] != '\0', "an error has a message");
  } else if (choice % 4 == 1 && input.is_one_in(8)) {
    check_files(input);
  } else {
    check_calls(input);
  }
  return 0;
}
