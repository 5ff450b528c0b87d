#include "formats/gguf.hpp"

#include "core/bpe/vocabulary.hpp"
#include "core/split/presets.hpp"
#include "formats/faults.hpp"
#include "formats/gguf_metadata.hpp"
#include "formats/text_model.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {
namespace {

// What llama.cpp knows of a model by its tokenizer.ggml.pre, and the file does not say.
struct PreType {
  std::string_view pre;
  bool ignore_merges;      // pre-tokens are looked up whole before they are merged
  bool add_bos;            // where the file does not say whether to
  std::string_view lstrip; // the token that takes white space before it along
  bool not_byte_level;     // tokens are UTF-8, not characters that stand for bytes
};

struct OtherModel {
  std::string_view name;
  std::string_view what;
};

#include "formats/generated/gguf_types.inc"

const PreType &type_of(std::string_view pre) {
  static constexpr PreType UNKNOWN{};
  for (const PreType &each : PRE_TYPES)
    if (each.pre == pre)
      return each;
  return UNKNOWN;
}

struct Key {
  enum { MODEL, PRE, TOKENS, TYPES, MERGES, BOS, EOS, ADD_BOS, ADD_EOS, ADD_SPACE };
};
constexpr std::string_view KEYS[] = {
    "tokenizer.ggml.model",         "tokenizer.ggml.pre",
    "tokenizer.ggml.tokens",        "tokenizer.ggml.token_type",
    "tokenizer.ggml.merges",        "tokenizer.ggml.bos_token_id",
    "tokenizer.ggml.eos_token_id",  "tokenizer.ggml.add_bos_token",
    "tokenizer.ggml.add_eos_token", "tokenizer.ggml.add_space_prefix",
};

struct TokenType {
  enum { UNDEFINED, NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE };
};

Fault unexpected(const GgufValue &value, const char *expected) {
  return malformed(value.shown() + "; expected " + expected);
}

Fault check_model(const GgufValue &model) {
  if (model.kind == GgufValue::ABSENT)
    return malformed("there is no " + std::string(KEYS[Key::MODEL]) +
                     ", so the file holds no vocabulary; where a model is in several files, "
                     "give the first");
  if (model.kind != GgufValue::STRING)
    return unexpected(model, "a string");
  if (model.text == "gpt2")
    return {};
  std::string message = model.shown() + " is not supported: ";
  for (const OtherModel &each : OTHER_MODELS)
    if (each.name == model.text)
      message += "that is " + std::string(each.what) + "; ";
  return unsupported(message + "byte-level BPE, \"gpt2\", is read");
}

// What is false, as Python says, is as if it were not there.
Fault read_pre(const GgufValue &value, std::string_view &pre) {
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

void find_split(std::string_view pre, Model &model) {
  const std::string key(KEYS[Key::PRE]);
  if (pre.empty()) {
    model.why_no_preset = "there is no " + key +
                          ", so the file does not say how its model splits (llama.cpp then "
                          "splits as preset \"default\" does)";
  } else if (find_preset(pre) == nullptr) {
    model.why_no_preset = key + " is " + shown(pre) + ", and no preset has that name";
  } else {
    const std::string_view names = find_preset(pre)->names;
    model.preset = names.substr(1, names.find(' ', 1) - 1);
  }
}

Fault check_types(const GgufValue &types, std::size_t count) {
  if (types.kind == GgufValue::ABSENT)
    return {};
  if (types.kind != GgufValue::NUMBERS && types.kind != GgufValue::STRINGS)
    return unexpected(types, "a list");
  const std::size_t listed = types.numbers.size() + types.texts.size();
  if (listed != count)
    return malformed(std::string(types.key) + " has " + std::to_string(listed) +
                     " types, but there are " + std::to_string(count) +
                     " tokens; the file is damaged");
  if (types.kind == GgufValue::STRINGS)
    return unexpected(types, "numbers from 0 to 6");
  for (std::size_t i = 0; i < count; ++i)
    if (types.numbers[i] < TokenType::UNDEFINED || types.numbers[i] > TokenType::BYTE)
      return malformed(std::string(types.key) + "[" + std::to_string(i) +
                       "] is none; expected a number from 0 to 6");
  const auto byte = std::find(types.numbers.begin(), types.numbers.end(), TokenType::BYTE);
  if (byte != types.numbers.end())
    return unsupported(std::string(types.key) + "[" +
                       std::to_string(byte - types.numbers.begin()) +
                       "] is 6 is not supported: that is the token of a byte where no other is "
                       "found, which byte-level BPE has not");
  return {};
}

Fault read_merges(const GgufValue &value, std::vector<TextMerge> &merges) {
  if (value.kind == GgufValue::NUMBERS && value.numbers.empty())
    return {};
  if (value.kind != GgufValue::STRINGS)
    return unexpected(value, "a list of strings");
  merges.reserve(value.texts.size());
  for (const std::string_view text : value.texts) {
    TextMerge merge;
    if (!split_merge(text, merge))
      return malformed(std::string(value.key) + "[" + std::to_string(merges.size()) + "] is " +
                       shown(text) + "; expected two tokens with a space between");
    merges.push_back(merge);
  }
  return {};
}

Fault check_differ(const std::vector<std::string_view> &texts, const TextPlaces &places) {
  for (std::size_t id = 0; id < texts.size(); ++id)
    if (!texts[id].empty() && places.find(texts[id]) != id)
      return malformed(std::string(KEYS[Key::TOKENS]) + " has " + shown(texts[id]) +
                       " twice, as " + std::to_string(id) + " and " +
                       std::to_string(places.find(texts[id])) + "; the file is damaged");
  return {};
}

void list_added(const GgufValue &tokens, const GgufValue &types, std::string_view lstrip,
                Model &model) {
  for (std::size_t id = 0; id < types.numbers.size(); ++id) {
    const std::int64_t type = types.numbers[id];
    const bool special = type == TokenType::UNKNOWN || type == TokenType::CONTROL;
    if ((!special && type != TokenType::USER_DEFINED) || tokens.texts[id].empty())
      continue;
    AddedToken token;
    token.content = tokens.texts[id];
    token.id = static_cast<std::uint32_t>(id);
    token.lstrip = !lstrip.empty() && tokens.texts[id] == lstrip;
    model.added.push_back(std::move(token));
    model.added_special.push_back(special);
  }
}

// Reads a flag, which is `usual` where the file does not say.
Fault read_flag(const GgufValue &value, bool usual, bool &flag) {
  flag = value.kind == GgufValue::ABSENT ? usual : value.number != 0;
  if (value.kind != GgufValue::ABSENT && value.kind != GgufValue::FLAG)
    return unexpected(value, "true or false");
  return {};
}

// Reads the id that `is_added` says to put at one end of a text, or none.
Fault read_end(const GgufValue &id, const GgufValue &is_added, bool usual, std::size_t count,
               std::vector<std::uint32_t> &ids) {
  bool added = false;
  if (Fault fault = read_flag(is_added, usual, added))
    return fault;
  if (!added)
    return {};
  if (id.kind != GgufValue::INTEGER || id.negative || id.number >= count)
    return malformed(id.shown() + "; expected the id of one of the " + std::to_string(count) +
                     " tokens, since texts are to have it");
  ids.push_back(static_cast<std::uint32_t>(id.number));
  return {};
}

Fault read_vocabulary(const std::vector<GgufValue> &values, const PreType &type, Model &model) {
  const GgufValue &tokens = values[Key::TOKENS];
  const GgufValue &types = values[Key::TYPES];
  if (tokens.kind != GgufValue::STRINGS || tokens.texts.empty())
    return unexpected(tokens, "an array of strings, one for each token");
  if (Fault fault = check_types(types, tokens.texts.size()))
    return fault;
  TextModel source;
  source.texts = tokens.texts;
  source.ids.resize(tokens.texts.size());
  for (std::uint32_t id = 0; id < source.ids.size(); ++id)
    source.ids[id] = id;
  source.merges_at = KEYS[Key::MERGES].data();
  source.ignore_merges = type.ignore_merges;
  // What a text becomes by merging, or a byte, stays, whatever else the token may be.
  source.loose.reserve(types.numbers.size());
  for (const std::int64_t each : types.numbers)
    source.loose.push_back(each != TokenType::UNDEFINED && each != TokenType::NORMAL);
  if (Fault fault = read_merges(values[Key::MERGES], source.merges))
    return fault;
  const TextPlaces places(source.texts);
  if (Fault fault = check_differ(source.texts, places))
    return fault;
  if (Fault fault = build_vocabulary(source, places, model))
    return fault;
  list_added(tokens, types, type.lstrip, model);
  return {};
}

} // namespace

bool is_gguf(const std::uint8_t *data, std::size_t size) {
  return size >= 4 && std::memcmp(data, "GGUF", 4) == 0;
}

Fault read_gguf(ByteSource &file, Model &model) {
  std::vector<GgufValue> values(std::size(KEYS));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i].key = KEYS[i];
  if (Fault fault = read_gguf_metadata(file, values))
    return fault;
  std::string_view pre;
  if (Fault fault = check_model(values[Key::MODEL]))
    return fault;
  if (Fault fault = read_pre(values[Key::PRE], pre))
    return fault;
  const PreType &type = type_of(pre);
  if (type.not_byte_level)
    return unsupported(values[Key::PRE].shown() +
                       " is not supported: the tokens of such models are text, not bytes; "
                       "byte-level BPE is read");
  find_split(pre, model);
  if (Fault fault = read_vocabulary(values, type, model))
    return fault;
  const std::size_t count = values[Key::TOKENS].texts.size();
  if (Fault fault = read_flag(values[Key::ADD_SPACE], false, model.add_prefix_space))
    return fault;
  if (Fault fault =
          read_end(values[Key::BOS], values[Key::ADD_BOS], type.add_bos, count, model.before))
    return fault;
  return read_end(values[Key::EOS], values[Key::ADD_EOS], false, count, model.after);
}

} // namespace pretok
