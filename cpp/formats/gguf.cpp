#include "formats/gguf.hpp"

#include "core/bpe/vocabulary.hpp"
#include "core/split/presets.hpp"
#include "core/unicode/utf8.hpp"
#include "formats/character_spec.hpp"
#include "formats/gguf_metadata.hpp"
#include "formats/load_error.hpp"
#include "formats/piece_file.hpp"
#include "formats/piece_merges.hpp"
#include "formats/text_model.hpp"

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
  bool not_byte_level;     // tokens are UTF-8, not characters that stand for bytes
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

// Indices in KEYS.
struct Key {
  enum { MODEL, PRE, TOKENS, TYPES, MERGES, BOS, EOS, ADD_BOS, ADD_EOS, ADD_SPACE, SCORES };
};
constexpr std::string_view KEYS[] = {
    "tokenizer.ggml.model",         "tokenizer.ggml.pre",
    "tokenizer.ggml.tokens",        "tokenizer.ggml.token_type",
    "tokenizer.ggml.merges",        "tokenizer.ggml.bos_token_id",
    "tokenizer.ggml.eos_token_id",  "tokenizer.ggml.add_bos_token",
    "tokenizer.ggml.add_eos_token", "tokenizer.ggml.add_space_prefix",
    "tokenizer.ggml.scores",
};

struct TokenType {
  enum { UNDEFINED, NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE };
};

LoadError unexpected(const GgufValue &value, const char *expected) {
  return malformed(value.description() + "; expected " + expected);
}

LoadError check_model(const GgufValue &model) {
  if (model.kind == GgufValue::ABSENT)
    return malformed("there is no " + std::string(KEYS[Key::MODEL]) +
                     ", so the file holds no vocabulary; if the model is split into several "
                     "files, give the first");
  if (model.kind != GgufValue::STRING)
    return unexpected(model, "a string");
  if (model.text == "gpt2" || model.text == "llama")
    return {};
  std::string message = model.description() + ", which is not supported: ";
  for (const OtherModel &other : OTHER_MODELS)
    if (other.name == model.text)
      message += "it is " + std::string(other.algorithm) + "; ";
  return unsupported(message + "pretok reads only \"gpt2\", which is byte-level BPE, and "
                               "\"llama\", which is SentencePiece's BPE");
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

// Sets spec.preset or spec.why_no_preset.
void find_split(std::string_view pre, TokenizerSpec &spec) {
  const std::string key(KEYS[Key::PRE]);
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

// Checks the types of the tokens. `count` is the number of tokens. Only SentencePiece's models
// may have fallback tokens for bytes.
LoadError check_types(const GgufValue &types, std::size_t count, bool may_have_bytes) {
  if (types.kind == GgufValue::ABSENT)
    return {};
  if (types.kind != GgufValue::NUMBERS && types.kind != GgufValue::STRINGS)
    return unexpected(types, "a list");
  const std::size_t listed = types.numbers.size() + types.texts.size();
  if (listed != count)
    return malformed(std::string(types.key) + " has " + std::to_string(listed) +
                     " types, but " + std::string(KEYS[Key::TOKENS]) + " has " +
                     std::to_string(count) + " tokens; the file is damaged");
  if (types.kind == GgufValue::STRINGS)
    return unexpected(types, "numbers from 0 to 6");
  for (std::size_t i = 0; i < count; ++i)
    if (types.numbers[i] < TokenType::UNDEFINED || types.numbers[i] > TokenType::BYTE)
      return malformed(std::string(types.key) + "[" + std::to_string(i) +
                       "] is not a token type; expected a number from 0 to 6");
  if (may_have_bytes)
    return {};
  const auto byte = std::find(types.numbers.begin(), types.numbers.end(), TokenType::BYTE);
  if (byte != types.numbers.end())
    return unsupported(std::string(types.key) + "[" +
                       std::to_string(byte - types.numbers.begin()) +
                       "] is 6, which is not supported: it marks a fallback token for a byte, "
                       "which byte-level BPE does not have");
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
      return malformed(std::string(value.key) + "[" + std::to_string(merges.size()) + "] is " +
                       quote(text) + "; expected two tokens with a space between");
    merges.push_back(merge);
  }
  return {};
}

// Fails if two texts are equal and not empty.
LoadError check_unique(const std::vector<std::string_view> &texts, const TextIndex &places) {
  for (std::size_t id = 0; id < texts.size(); ++id)
    if (!texts[id].empty() && places.find(texts[id]) != id)
      return malformed(std::string(KEYS[Key::TOKENS]) + " has " + quote(texts[id]) +
                       " twice, with ids " + std::to_string(id) + " and " +
                       std::to_string(places.find(texts[id])) + "; the file is damaged");
  return {};
}

// Appends to spec.added each token whose type makes it an added token. The token `lstrip` gets
// the flag lstrip.
void list_added(const GgufValue &tokens, const GgufValue &types, std::string_view lstrip,
                TokenizerSpec &spec) {
  for (std::size_t id = 0; id < types.numbers.size(); ++id) {
    const std::int64_t type = types.numbers[id];
    const bool special = type == TokenType::UNKNOWN || type == TokenType::CONTROL;
    if ((!special && type != TokenType::USER_DEFINED) || tokens.texts[id].empty())
      continue;
    AddedToken token;
    token.content = tokens.texts[id];
    token.id = static_cast<std::uint32_t>(id);
    token.lstrip = !lstrip.empty() && tokens.texts[id] == lstrip;
    spec.added.push_back(std::move(token));
    spec.added_special.push_back(special);
  }
}

// Sets `flag` to `value`, or to `fallback` if the file does not have the flag.
LoadError read_flag(const GgufValue &value, bool fallback, bool &flag) {
  flag = value.kind == GgufValue::ABSENT ? fallback : value.number != 0;
  if (value.kind != GgufValue::ABSENT && value.kind != GgufValue::FLAG)
    return unexpected(value, "true or false");
  return {};
}

// Reads the id that a model may expect before or after a text. If the flag `is_added` is true,
// appends `id` to `ids`. If the file does not have this flag, `fallback` is its value. `count`
// is the number of tokens.
LoadError read_end(const GgufValue &id, const GgufValue &is_added, bool fallback,
                   std::size_t count, std::vector<std::uint32_t> &ids) {
  bool added = false;
  if (LoadError error = read_flag(is_added, fallback, added))
    return error;
  if (!added)
    return {};
  if (id.kind != GgufValue::INTEGER || id.negative || id.number >= count)
    return malformed(id.description() + "; expected an id below " + std::to_string(count) +
                     ", the number of tokens");
  ids.push_back(static_cast<std::uint32_t>(id.number));
  return {};
}

// Reads the ids before and after a text. If the file does not have add_bos_token, `adds_bos` is
// its value.
LoadError read_ends(const std::vector<GgufValue> &values, bool adds_bos, std::size_t count,
                    TokenizerSpec &spec) {
  if (LoadError error =
          read_end(values[Key::BOS], values[Key::ADD_BOS], adds_bos, count, spec.before))
    return error;
  return read_end(values[Key::EOS], values[Key::ADD_EOS], false, count, spec.after);
}

LoadError read_vocabulary(const std::vector<GgufValue> &values, const PreType &type,
                          TokenizerSpec &spec) {
  const GgufValue &tokens = values[Key::TOKENS];
  const GgufValue &types = values[Key::TYPES];
  if (tokens.kind != GgufValue::STRINGS || tokens.texts.empty())
    return unexpected(tokens, "an array of strings, one for each token");
  if (LoadError error = check_types(types, tokens.texts.size(), false))
    return error;
  TextModel source;
  source.texts = tokens.texts;
  source.ids.resize(tokens.texts.size());
  for (std::uint32_t id = 0; id < source.ids.size(); ++id)
    source.ids[id] = id;
  source.merges_name = KEYS[Key::MERGES].data();
  source.ignore_merges = type.ignore_merges;
  // Entries of all types except UNDEFINED and NORMAL are loose (TextModel::loose).
  source.loose.reserve(types.numbers.size());
  for (const std::int64_t token_type : types.numbers)
    source.loose.push_back(token_type != TokenType::UNDEFINED &&
                           token_type != TokenType::NORMAL);
  if (LoadError error = read_merges(values[Key::MERGES], source.merges))
    return error;
  const TextIndex places(source.texts);
  if (LoadError error = check_unique(source.texts, places))
    return error;
  if (LoadError error = build_vocabulary(source, places, spec))
    return error;
  list_added(tokens, types, type.lstrip, spec);
  return {};
}

// Reads a vocabulary of SentencePiece's BPE (tokenizer.ggml.model "llama"), as
// bpe/formats/gguf_text.py does.
class PieceReader {
public:
  PieceReader(const std::vector<GgufValue> &values, TokenizerSpec &spec)
      : tokens_(values[Key::TOKENS]), types_(values[Key::TYPES]), scores_(values[Key::SCORES]),
        space_(values[Key::ADD_SPACE]), spec_(spec) {}

  LoadError read() {
    if (tokens_.kind != GgufValue::STRINGS || tokens_.texts.empty())
      return unexpected(tokens_, "an array of strings, one for each token");
    const std::size_t count = tokens_.texts.size();
    if (LoadError error = check_types(types_, count, true))
      return error;
    const TextIndex places(tokens_.texts);
    if (LoadError error = check_unique(tokens_.texts, places))
      return error;
    if (scores_.kind != GgufValue::NUMBERS || scores_.floats.size() != count)
      return unexpected(scores_, "floats of 32 bits, one for each token");
    if (LoadError error = read_options())
      return error;
    if (LoadError error = list_tokens())
      return error;
    if (LoadError error = check_unreachable(places))
      return error;
    list_added(tokens_, types_, "", spec_);
    const std::string problem = problem_of_characters(spec_);
    if (!problem.empty())
      return unsupported("the SentencePiece model " + problem);
    return find_piece_merges(pieces_, spec_.vocabulary.merges);
  }

private:
  std::int64_t type_of(std::size_t id) const {
    return types_.numbers.empty() ? std::int64_t{TokenType::NORMAL} : types_.numbers[id];
  }

  LoadError read_options() {
    bool adds_space = true;
    if (LoadError error = read_flag(space_, true, adds_space))
      return error;
    CharacterSpec &characters = spec_.characters.emplace();
    characters.spaces.prefix =
        adds_space ? TextSpaces::Prefix::ALWAYS : TextSpaces::Prefix::NONE;
    characters.spaces.are_marks = characters.is_normalizer = true;
    characters.fuses_unknown = true;
    characters.decoding.strips = adds_space ? 1 : 0;
    return {};
  }

  // Lists the tokens that are not empty, and the pieces, which merges may make.
  LoadError list_tokens() {
    constexpr std::size_t MAX_TOKEN = 1 << 12; // characters
    VocabularyData &data = spec_.vocabulary;
    std::size_t fallback = 0;
    for (std::uint32_t id = 0; id < tokens_.texts.size(); ++id) {
      const std::string_view text = tokens_.texts[id];
      const std::int64_t type = type_of(id);
      const bool is_byte = type == TokenType::BYTE;
      if (is_byte && !fallback_byte(text))
        return malformed("the fallback tokens include " + quote(text) +
                         "; expected <0x00> to <0xFF>");
      fallback += is_byte ? 1 : 0;
      if (text.empty())
        continue;
      data.bytes.insert(data.bytes.end(), text.begin(), text.end());
      data.lengths.push_back(static_cast<std::uint32_t>(text.size()));
      data.ids.push_back(id);
      if (is_byte || type == TokenType::UNKNOWN || type == TokenType::CONTROL) {
        special_.push_back(text);
        continue;
      }
      if (count_characters(text) > MAX_TOKEN)
        return malformed("token " + std::to_string(id) + " has more than " +
                         std::to_string(MAX_TOKEN) + " characters");
      const float score = scores_.floats[id];
      if (score != score)
        return malformed("token " + std::to_string(id) +
                         " has the score NaN; expected a number");
      pieces_.texts.push_back(text);
      pieces_.ids.push_back(id);
      pieces_.scores.push_back(score);
    }
    data.mergeable = data.ids.size();
    data.from_ranks = data.ignore_merges = false;
    return fallback == 256 ? LoadError()
                           : malformed("the file has " + std::to_string(fallback) +
                                       " fallback tokens; expected <0x00> to <0xFF>");
  }

  // Fails if llama.cpp may merge ordinary text to a special token or a fallback token: if such
  // a token has one character, or its text is that of two tokens or characters together.
  LoadError check_unreachable(const TextIndex &places) const {
    std::vector<bool> characters(0x110000);
    for (const std::string_view text : tokens_.texts)
      for (std::size_t at = 0; at < text.size();) {
        const Decoded decoded = character_at(text, at);
        characters[decoded.code_point] = true;
        at += decoded.width;
      }
    const auto is_known = [&](std::string_view text) {
      const Decoded first = character_at(text, 0);
      return (first.width == text.size() && characters[first.code_point]) ||
             places.find(text) != TextIndex::NO_TEXT;
    };
    for (const std::string_view text : special_) {
      std::size_t at = character_at(text, 0).width;
      bool is_reachable = at == text.size();
      for (; at < text.size(); at += character_at(text, at).width)
        is_reachable =
            is_reachable || (is_known(text.substr(0, at)) && is_known(text.substr(at)));
      if (is_reachable)
        return unsupported("in llama.cpp, ordinary text may become the token " + quote(text) +
                           ", which is a special token or the name of a byte; pretok does not "
                           "support such a vocabulary");
    }
    return {};
  }

  static Decoded character_at(std::string_view text, std::size_t at) {
    return decode_utf8(reinterpret_cast<const std::uint8_t *>(text.data()) + at,
                       text.size() - at);
  }

  const GgufValue &tokens_;
  const GgufValue &types_;
  const GgufValue &scores_;
  const GgufValue &space_;
  TokenizerSpec &spec_;
  ScoredPieces pieces_;
  std::vector<std::string_view> special_;
};

} // namespace

bool is_gguf(const std::uint8_t *data, std::size_t size) {
  return size >= 4 && std::memcmp(data, "GGUF", 4) == 0;
}

LoadError read_gguf(ByteSource &file, TokenizerSpec &spec) {
  std::vector<GgufValue> values(std::size(KEYS));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i].key = KEYS[i];
  if (LoadError error = read_gguf_metadata(file, values))
    return error;
  std::string_view pre;
  if (LoadError error = check_model(values[Key::MODEL]))
    return error;
  const std::size_t count = values[Key::TOKENS].texts.size();
  if (values[Key::MODEL].text == "llama") {
    if (LoadError error = PieceReader(values, spec).read())
      return error;
    return read_ends(values, true, count, spec);
  }
  if (LoadError error = read_pre(values[Key::PRE], pre))
    return error;
  const PreType &type = type_of(pre);
  if (type.not_byte_level)
    return unsupported(values[Key::PRE].description() +
                       ", which is not supported: pretok does not read models of this kind, "
                       "whose tokens are text and not bytes");
  find_split(pre, spec);
  if (LoadError error = read_vocabulary(values, type, spec))
    return error;
  if (LoadError error = read_flag(values[Key::ADD_SPACE], false, spec.add_prefix_space))
    return error;
  return read_ends(values, type.add_bos, count, spec);
}

} // namespace pretok
