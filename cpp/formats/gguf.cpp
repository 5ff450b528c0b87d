#include "formats/gguf.hpp"

#include "core/bpe/vocabulary.hpp"
#include "core/split/presets.hpp"
#include "formats/gguf_metadata.hpp"
#include "formats/gguf_parts.hpp"
#include "formats/text_model.hpp"
#include "formats/text_spec.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {
namespace {

// Properties of a tokenizer that a GGUF file does not store. Like llama.cpp, pretok derives
// them from the value of tokenizer.ggml.pre.
struct PreType {
  std::string_view pre;    // the value of tokenizer.ggml.pre
  bool ignore_merges;      // a pre-token that equals a token encodes to this token
  bool add_bos;            // the value of add_bos_token if the file does not have it
  std::string_view lstrip; // the only added token that has the flag lstrip, or ""
  // The characters of tokens stand for bytes (BYTES), or tokens are UTF-8: models that merge
  // characters, with special rules in GEMMA, and models that split text into words.
  enum { BYTES, CHARACTERS, GEMMA, WORDS } units;
};

// A value of tokenizer.ggml.model that pretok does not support, and what the value stands for.
struct OtherModel {
  std::string_view name;
  std::string_view algorithm;
};

#include "formats/generated/gguf_types.inc"

const PreType &type_of(std::string_view pre) {
  static constexpr PreType UNKNOWN{};
  for (const PreType &type : PRE_TYPES)
    if (type.pre == pre)
      return type;
  return UNKNOWN;
}

constexpr std::string_view KEYS[] = {
    "tokenizer.ggml.model",         "tokenizer.ggml.pre",
    "tokenizer.ggml.tokens",        "tokenizer.ggml.token_type",
    "tokenizer.ggml.merges",        "tokenizer.ggml.bos_token_id",
    "tokenizer.ggml.eos_token_id",  "tokenizer.ggml.add_bos_token",
    "tokenizer.ggml.add_eos_token", "tokenizer.ggml.add_space_prefix",
    "tokenizer.ggml.scores",        "general.name",
};

LoadError check_model(const GgufValue &model) {
  if (model.kind == GgufValue::ABSENT)
    return malformed("there is no ", KEYS[GgufKey::MODEL],
                     ", so the file holds no vocabulary; if the model is split into several "
                     "files, give the first");
  if (model.kind != GgufValue::STRING)
    return unexpected(model, "a string");
  if (model.text == "gpt2" || model.text == "llama" || model.text == "gemma4")
    return {};
  std::string message = model.description() + ", which is not supported: ";
  for (const OtherModel &other : OTHER_MODELS)
    if (other.name == model.text)
      message += "it is " + std::string(other.algorithm) + "; ";
  return unsupported(message, "pretok reads only \"gpt2\", \"llama\" and \"gemma4\", which are "
                              "BPE");
}

// Reads tokenizer.ggml.pre. The values 0, false, "" and an empty list count as absent.
LoadError read_pre(const GgufValue &value, std::string_view &pre) {
  const bool is_empty = value.kind == GgufValue::ABSENT ||
                        (value.kind == GgufValue::STRINGS && value.texts.empty()) ||
                        (value.kind == GgufValue::NUMBERS && value.numbers.empty()) ||
                        ((value.kind == GgufValue::INTEGER || value.kind == GgufValue::FLAG) &&
                         value.number == 0) ||
                        (value.kind == GgufValue::FLOAT && value.number == 0);
  if (is_empty)
    return {};
  if (value.kind != GgufValue::STRING)
    return unexpected(value, "a string");
  pre = value.text;
  return {};
}

// The added tokens of Phi-3 without the flag rstrip.
constexpr std::string_view NOT_RSTRIP[] = {"<unk>", "<s>", "<|endoftext|>"};

// Returns whether general.name is the name of a Phi-3 model.
bool has_phi3(const GgufValue &name) {
  std::string lowered(name.text);
  for (char &letter : lowered)
    letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
  return lowered.find("phi3") != std::string::npos ||
         lowered.find("phi-3") != std::string::npos;
}

// Sets spec.preset or spec.why_no_preset.
void find_split(std::string_view pre, TokenizerSpec &spec) {
  const std::string key(KEYS[GgufKey::PRE]);
  if (pre.empty()) {
    spec.why_no_preset = "there is no " + key +
                         ", so the split is unknown (llama.cpp then splits like preset "
                         "\"default\")";
  } else if (find_preset(pre) == nullptr) {
    spec.why_no_preset = key + " is " + quote(pre) + ", but no preset has this name";
  } else {
    const std::string_view names = find_preset(pre)->names;
    spec.preset = names.substr(1, names.find(' ', 1) - 1);
  }
}

// Returns whether `character` is one of ² ³ ¹ ¼ ½ ¾: a number that stands for a byte, but not
// for an ASCII digit.
bool is_byte_number(std::string_view character) {
  constexpr std::string_view NUMBERS = "\xB2\xB3\xB9\xBC\xBD\xBE";
  return character.size() == 2 && character[0] == '\xC2' &&
         NUMBERS.find(character[1]) != std::string_view::npos;
}

// Falcon's split isolates the bytes of these numbers, also within a code point, which preset
// "falcon" does not. The ids are equal if no merge joins such a byte with another byte.
LoadError check_byte_numbers(const std::vector<TextMerge> &merges) {
  for (const TextMerge &merge : merges) {
    const std::size_t size = merge.left.size();
    const bool ends = is_byte_number(merge.left.substr(size - std::min(size, std::size_t{2})));
    if (ends != is_byte_number(merge.right.substr(0, 2)))
      return unsupported(KEYS[GgufKey::PRE],
                         " is \"falcon\", which isolates the bytes B2, B3, B9, BC, BD and BE, "
                         "also within a code point, but a merge joins ",
                         quote(merge.left), " and ", quote(merge.right),
                         ", which is not supported: the split would change ids");
  }
  return {};
}

// Reads the id that a model may expect before or after a text. If the flag `is_added` is true,
// appends `id` to `ids`. If the file does not have this flag, `fallback` is its value. `texts`
// has the texts of the tokens.
LoadError read_end(const GgufValue &id, const GgufValue &is_added, bool fallback,
                   const std::vector<std::string_view> &texts,
                   std::vector<std::uint32_t> &ids) {
  bool added = false;
  if (LoadError error = read_flag(is_added, fallback, added))
    return error;
  if (!added)
    return {};
  if (id.kind != GgufValue::INTEGER || id.negative || id.number >= texts.size())
    return malformed(id.description(), "; expected an id below ", texts.size(),
                     ", the number of tokens");
  if (texts[id.number].empty())
    return malformed(id.description(), "; expected the id of a token that is not empty");
  ids.push_back(static_cast<std::uint32_t>(id.number));
  return {};
}

// Reads the ids before and after a text. If `add_bos` is absent, `adds_bos` is its value.
LoadError read_ends(const std::vector<GgufValue> &values, const GgufValue &add_bos,
                    bool adds_bos, TokenizerSpec &spec) {
  const std::vector<std::string_view> &texts = values[GgufKey::TOKENS].texts;
  if (LoadError error = read_end(values[GgufKey::BOS], add_bos, adds_bos, texts, spec.before))
    return error;
  return read_end(values[GgufKey::EOS], values[GgufKey::ADD_EOS], false, texts, spec.after);
}

// Fills spec.vocabulary. If only a TextSpec can hold the tokens, also sets spec.text: if a byte
// of valid text has no token, which llama.cpp drops, or if text may become a token with a
// character that stands for no byte.
LoadError build_bytes(const TextModel &source, bool ignore_merges, const TextIndex &places,
                      TokenizerSpec &spec) {
  if (has_all_bytes(places)) {
    LoadError error = build_vocabulary(source, ignore_merges, places, spec);
    if (error.kind != LoadError::UNSUPPORTED)
      return error;
    spec.vocabulary = {};
  }
  if (LoadError error = list_texts(source, places, spec.vocabulary))
    return error;
  spec.vocabulary.ignore_merges = ignore_merges;
  spec.text.emplace().byte_level = true;
  spec.decoder.emplace().push_back(DECODER_TYPES.make("ByteLevel"));
  return {};
}

LoadError read_vocabulary(const std::vector<GgufValue> &values, const PreType &type,
                          TokenizerSpec &spec) {
  const GgufValue &tokens = values[GgufKey::TOKENS];
  const GgufValue &types = values[GgufKey::TYPES];
  if (tokens.kind != GgufValue::STRINGS || tokens.texts.empty())
    return unexpected(tokens, "an array of strings, one for each token");
  if (LoadError error = check_types(types, tokens.texts.size(), false))
    return error;
  TextModel source;
  source.texts = tokens.texts;
  source.ids.resize(tokens.texts.size());
  for (std::uint32_t id = 0; id < source.ids.size(); ++id)
    source.ids[id] = id;
  source.merges_name = KEYS[GgufKey::MERGES].data();
  // Entries of all types except UNDEFINED and NORMAL are loose (TextModel::loose).
  source.loose.reserve(types.numbers.size());
  for (const std::int64_t number : types.numbers) {
    const auto token_type = static_cast<TokenType>(number);
    source.loose.push_back(token_type != TokenType::UNDEFINED &&
                           token_type != TokenType::NORMAL);
  }
  if (LoadError error = read_merges(values[GgufKey::MERGES], source.merges))
    return error;
  if (spec.preset == "falcon")
    if (LoadError error = check_byte_numbers(source.merges))
      return error;
  const TextIndex places(source.texts);
  if (LoadError error = check_unique(source.texts, places))
    return error;
  LoadError error = build_bytes(source, type.ignore_merges, places, spec);
  if (error)
    return error;
  list_added(values, type.lstrip, spec);
  return {};
}

} // namespace

LoadError unexpected(const GgufValue &value, const char *expected) {
  return malformed(value.description(), "; expected ", expected);
}

LoadError check_types(const GgufValue &types, std::size_t count, bool may_have_bytes) {
  if (types.kind == GgufValue::ABSENT)
    return {};
  if (types.kind != GgufValue::NUMBERS && types.kind != GgufValue::STRINGS)
    return unexpected(types, "a list");
  const std::size_t listed = types.numbers.size() + types.texts.size();
  if (listed != count)
    return malformed(types.key, " has ", listed, " types, but ", KEYS[GgufKey::TOKENS], " has ",
                     count, " tokens; the file is damaged");
  if (types.kind == GgufValue::STRINGS)
    return unexpected(types, "numbers from 0 to 6");
  for (std::size_t i = 0; i < count; ++i)
    if (!is_token_type(types.numbers[i]))
      return malformed(types.key, "[", i,
                       "] is not a token type; expected a number from 0 to 6");
  if (may_have_bytes)
    return {};
  const auto byte = std::find(types.numbers.begin(), types.numbers.end(),
                              static_cast<std::int64_t>(TokenType::BYTE));
  if (byte != types.numbers.end())
    return unsupported(types.key, "[", byte - types.numbers.begin(),
                       "] is 6, which is not supported: it marks a fallback token for a byte, "
                       "which byte-level BPE does not have");
  return {};
}

LoadError check_unique(const std::vector<std::string_view> &texts, const TextIndex &places) {
  for (std::size_t id = 0; id < texts.size(); ++id)
    if (!texts[id].empty() && places.find(texts[id]) != id)
      return malformed(KEYS[GgufKey::TOKENS], " has ", quote(texts[id]), " twice, with ids ",
                       id, " and ", places.find(texts[id]), "; the file is damaged");
  return {};
}

LoadError read_merges(const GgufValue &value, std::vector<TextMerge> &merges) {
  if (value.kind == GgufValue::NUMBERS && value.numbers.empty())
    return {};
  if (value.kind != GgufValue::STRINGS)
    return unexpected(value, "a list of strings");
  merges.reserve(value.texts.size());
  for (const std::string_view text : value.texts) {
    TextMerge merge;
    if (!split_merge(text, merge))
      return malformed(value.key, "[", merges.size(), "] is ", quote(text),
                       "; expected two tokens with a space between");
    merges.push_back(merge);
  }
  return {};
}

void list_added(const std::vector<GgufValue> &values, std::string_view lstrip,
                TokenizerSpec &spec) {
  const GgufValue &tokens = values[GgufKey::TOKENS];
  const GgufValue &types = values[GgufKey::TYPES];
  const bool is_phi3 = has_phi3(values[GgufKey::NAME]);
  for (std::size_t id = 0; id < types.numbers.size(); ++id) {
    const auto type = static_cast<TokenType>(types.numbers[id]);
    const bool special = type == TokenType::UNKNOWN || type == TokenType::CONTROL;
    if ((!special && type != TokenType::USER_DEFINED) || tokens.texts[id].empty())
      continue;
    AddedToken token;
    token.content = tokens.texts[id];
    token.id = static_cast<std::uint32_t>(id);
    token.lstrip = !lstrip.empty() && tokens.texts[id] == lstrip;
    token.rstrip = is_phi3 && std::find(std::begin(NOT_RSTRIP), std::end(NOT_RSTRIP),
                                        token.content) == std::end(NOT_RSTRIP);
    token.special = special;
    spec.added.push_back(std::move(token));
  }
}

LoadError read_flag(const GgufValue &value, bool fallback, bool &flag) {
  flag = value.kind == GgufValue::ABSENT ? fallback : value.number != 0;
  if (value.kind != GgufValue::ABSENT && value.kind != GgufValue::FLAG)
    return unexpected(value, "true or false");
  return {};
}

bool is_gguf(const std::uint8_t *data, std::size_t size) {
  return size >= 4 && std::memcmp(data, "GGUF", 4) == 0;
}

LoadError read_gguf(ByteSource &file, TokenizerSpec &spec) {
  std::vector<GgufValue> values(std::size(KEYS));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i].key = KEYS[i];
  add_fact_keys(values);
  if (LoadError error = read_gguf_metadata(file, values))
    return error;
  if (LoadError error = check_model(values[GgufKey::MODEL]))
    return error;
  read_gguf_facts(values, spec.facts);
  if (LoadError error = read_named_templates(file, values, spec.facts))
    return error;
  const std::string_view model = values[GgufKey::MODEL].text;
  if (model == "llama") {
    if (LoadError error = read_gguf_pieces(values, spec))
      return error;
    return read_ends(values, values[GgufKey::ADD_BOS], true, spec);
  }
  std::string_view pre = model == "gemma4" ? model : "";
  if (pre.empty())
    if (LoadError error = read_pre(values[GgufKey::PRE], pre))
      return error;
  const PreType &type = type_of(pre);
  if (type.units == PreType::WORDS)
    return unsupported(values[GgufKey::PRE].description(),
                       ", which is not supported: pretok does not read models of this kind, "
                       "whose tokens are text and not bytes");
  if (type.units != PreType::BYTES) {
    const bool is_gemma = type.units == PreType::GEMMA;
    if (LoadError error = read_gguf_characters(values, is_gemma, spec))
      return error;
    // Some files of Gemma 4 have a wrong add_bos_token, which llama.cpp ignores.
    return read_ends(values, is_gemma ? GgufValue() : values[GgufKey::ADD_BOS], is_gemma, spec);
  }
  find_split(pre, spec);
  if (LoadError error = read_vocabulary(values, type, spec))
    return error;
  if (LoadError error = read_flag(values[GgufKey::ADD_SPACE], false, spec.add_prefix_space))
    return error;
  return read_ends(values, values[GgufKey::ADD_BOS], type.add_bos, spec);
}

} // namespace pretok
