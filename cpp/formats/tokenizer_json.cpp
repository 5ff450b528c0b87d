#include "formats/tokenizer_json.hpp"

#include "core/bpe/vocabulary.hpp"
#include "core/unicode/byte_level.hpp"
#include "formats/json_limits.hpp"
#include "formats/json_part.hpp"
#include "formats/json_split.hpp"
#include "formats/json_steps.hpp"
#include "formats/json_template.hpp"
#include "formats/piece_file.hpp"
#include "formats/text_model.hpp"
#include "formats/text_spec.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

// The maximum number of characters of a prefix or suffix of tokens.
constexpr std::size_t MAX_AFFIX_SIZE = 256;

// Reads the parts of a tokenizer.json. A function that fails sets `error_` and returns false.
class TokenizerJson {
public:
  TokenizerJson(element file, TokenizerSpec &spec) : file_{file, true, ""}, spec_(spec) {}

  LoadError read() {
    read_all();
    return std::move(error_);
  }

private:
  bool read_all() {
    JsonPart model;
    if (!file_.only({"version", "truncation", "padding", "added_tokens", "normalizer",
                     "pre_tokenizer", "post_processor", "decoder", "model"},
                    error_))
      return false;
    // Ignore truncation and padding, because pretok never truncates or pads in C++.
    return file_.get("model", model, error_) && read_options(model) &&
           read_normalizer_steps(file_, spec_.steps, error_) &&
           read_split(file_, spec_, error_) &&
           read_decoder_steps(file_, decoder_, joins_bytes_, error_) && read_added() &&
           read_vocabulary(model) && read_template(file_, spec_, error_);
  }

  bool fail_unsupported(const JsonPart &part, const std::string &advice) {
    error_ = part.unsupported(advice);
    return false;
  }

  bool fail_malformed(const JsonPart &part, const std::string &expected) {
    error_ = part.malformed(expected);
    return false;
  }

  // Reads the members of the model except vocab and merges.
  bool read_options(const JsonPart &model) {
    JsonPart option;
    std::string_view text;
    if (!model.get("type", option, error_) || (option.is_present && !option.text(text, error_)))
      return false;
    if (option.is_present && text != "BPE")
      return fail_unsupported(option, "pretok reads only BPE models");
    if (!model.only({"type", "vocab", "merges", "dropout", "unk_token",
                     "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                     "byte_fallback", "ignore_merges"},
                    error_))
      return false;
    for (const auto &[name, affix] : {std::pair("continuing_subword_prefix", &text_.prefix),
                                      std::pair("end_of_word_suffix", &text_.suffix)}) {
      text = {};
      if (!model.get(name, option, error_) || (option.is_present && !option.text(text, error_)))
        return false;
      if (count_characters(text) > MAX_AFFIX_SIZE)
        return fail_malformed(option, "a text of at most 256 characters");
      *affix = text;
    }
    double dropout = 0;
    if (!model.get("dropout", option, error_))
      return false;
    if (option.is_present && !option.is_number() && !option.is(element_type::DOUBLE))
      return fail_malformed(option, "null or a number");
    if (option.is_present &&
        (option.value.get(dropout) != simdjson::SUCCESS || dropout < 0 || dropout > 0))
      return fail_unsupported(option, "dropout makes ids random; set it to null");
    text = {};
    if (!model.get("unk_token", option, error_) ||
        (option.is_present && !option.text(text, error_)))
      return false;
    unknown_ = text;
    return model.get("fuse_unk", option, error_) &&
           option.flag_or_false(text_.fuses_unknown, error_) &&
           model.get("byte_fallback", option, error_) &&
           option.flag_or_false(text_.has_fallback, error_) &&
           model.get("ignore_merges", option, error_) &&
           option.flag_or_false(ignore_merges_, error_);
  }

  bool read_added() {
    JsonPart listed;
    std::vector<JsonPart> items;
    return file_.get("added_tokens", listed, error_) &&
           (!listed.is_present || listed.items(items, error_)) &&
           std::all_of(items.begin(), items.end(),
                       [this](const JsonPart &item) { return read_added_token(item); });
  }

  bool read_added_token(const JsonPart &item) {
    AddedToken token;
    JsonPart part;
    std::string_view content;
    bool special = false;
    const auto flag = [&](const char *name, bool &value) {
      return item.get(name, part, error_) && part.flag(value, error_);
    };
    if (!item.get("id", part, error_) || !part.id(token.id, error_) ||
        !item.only(
            {"content", "single_word", "lstrip", "rstrip", "normalized", "special", "id"},
            error_) ||
        !flag("single_word", token.single_word) || !flag("lstrip", token.lstrip) ||
        !flag("rstrip", token.rstrip) || !flag("normalized", token.normalized) ||
        !flag("special", special) || !item.get("content", part, error_) ||
        !part.text(content, error_))
      return false;
    if (content.empty())
      return true; // the library ignores it
    token.content = content;
    spec_.added.push_back(std::move(token));
    spec_.added_special.push_back(special);
    return true;
  }

  bool read_vocabulary(const JsonPart &model) {
    TextModel source;
    JsonPart part;
    if (!model.get("vocab", part, error_) || !read_texts(part, source))
      return false;
    const TextIndex places(source.texts);
    for (std::size_t place = 0; place < source.texts.size(); ++place)
      if (places.find(source.texts[place]) != place) {
        error_ = malformed("model.vocab has " + quote(source.texts[place]) + " twice");
        return false;
      }
    if (!assign_ids(source, places) || !model.get("merges", part, error_) ||
        !read_merges(part, source))
      return false;
    source.ignore_merges = ignore_merges_;
    source.merges_name = "model.merges";
    if (!find_byte_level(text_.byte_level))
      return false;
    if (text_.byte_level && text_.prefix.empty() && text_.suffix.empty() &&
        has_all_bytes(places)) {
      error_ = build_vocabulary(source, places, spec_);
      // Text may become an entry with a character that stands for no byte. Only a TextSpec can
      // hold such an entry.
      if (error_.kind != LoadError::UNSUPPORTED)
        return !error_ && finish_bytes();
      error_ = {};
      spec_.vocabulary = {};
    }
    return read_text_split(file_, spec_, error_) && build_text(source, places);
  }

  // Sets the normalizer and the decoder of a model whose tokens are bytes.
  bool finish_bytes() {
    const auto is_nfc = [](const NormalizerStep &step) {
      return step.kind == NormalizerStep::Kind::NFC;
    };
    if (std::all_of(spec_.steps.begin(), spec_.steps.end(), is_nfc)) {
      spec_.nfc = !spec_.steps.empty();
      spec_.steps.clear();
    }
    if (!joins_bytes_ || changes_added())
      spec_.decoder = std::move(decoder_);
    return true;
  }

  // Returns whether ByteLevel decodes an added token to other bytes: "é" to the byte 0xE9.
  bool changes_added() const {
    for (const AddedToken &token : spec_.added) {
      std::vector<std::uint8_t> bytes;
      if (append_bytes(token.content, bytes) && bytes.size() != token.content.size())
        return std::any_of(decoder_.begin(), decoder_.end(), [](const DecoderStep &step) {
          return step.kind == DecoderStep::Kind::BYTE_LEVEL;
        });
    }
    return false;
  }

  // Sets whether the last part of the pre_tokenizer is ByteLevel.
  bool find_byte_level(bool &result) {
    JsonPart split;
    std::vector<JsonPart> parts;
    std::string_view kind;
    if (!file_.get("pre_tokenizer", split, error_) ||
        !split.parts("pretokenizers", parts, error_))
      return false;
    result = !parts.empty() && parts.back().is_present;
    if (result && !parts.back().kind(kind, error_))
      return false;
    result = result && kind == "ByteLevel";
    return true;
  }

  // Returns whether each byte of valid text has a token.
  static bool has_all_bytes(const TextIndex &places) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      const std::string one(1, static_cast<char>(byte));
      if (!is_rare_byte(byte) && places.find(byte_characters(one)) == TextIndex::NO_TEXT)
        return false;
    }
    return true;
  }

  // Makes a model whose tokens are text.
  bool build_text(const TextModel &source, const TextIndex &places) {
    if (!unknown_.empty()) {
      const std::uint32_t place = places.find(unknown_);
      if (place == TextIndex::NO_TEXT) {
        error_ = malformed("the unknown token is " + quote(unknown_) +
                           ", which is not in the vocabulary; add it, or name another token");
        return false;
      }
      text_.unknown_id = source.ids[place];
    }
    spec_.text = text_;
    spec_.decoder = std::move(decoder_);
    VocabularyData &data = spec_.vocabulary;
    for (std::size_t i = 0; i < source.texts.size(); ++i) {
      const std::string_view text = source.texts[i];
      if (text.empty())
        continue;
      data.bytes.insert(data.bytes.end(), text.begin(), text.end());
      data.lengths.push_back(static_cast<std::uint32_t>(text.size()));
      data.ids.push_back(source.ids[i]);
    }
    data.mergeable = data.ids.size();
    data.from_ranks = false;
    data.ignore_merges = source.ignore_merges;
    if (data.ids.empty()) {
      error_ = malformed("model.vocab has no token; expected at least one");
      return false;
    }
    error_ = find_merges(source, places, data.merges, text_.prefix);
    if (error_)
      return false;
    const std::string problem = problem_of_text(spec_);
    if (!problem.empty())
      error_ = unsupported("the model " + problem);
    else
      use_character_spec(spec_);
    return !error_;
  }

  bool read_texts(const JsonPart &vocab, TextModel &source) {
    object members;
    if (!vocab.object(members, error_))
      return false;
    std::vector<bool> seen;
    for (const auto &member : members) {
      // Returns the entry with its path. Only error messages need the path.
      const auto entry = [&] {
        return JsonPart{member.value, !member.value.is_null(),
                        "model.vocab[" + quote(member.key) + "]"};
      };
      std::uint32_t id = 0;
      if (!JsonPart{member.value, true, ""}.id(id, error_))
        return entry().id(id, error_);
      if (id >= seen.size())
        seen.resize(std::size_t{id} + 1);
      if (seen[id])
        return fail_malformed(entry(), "a unique id");
      seen[id] = true;
      source.texts.push_back(member.key);
      source.ids.push_back(id);
    }
    return true;
  }

  // Gives added tokens the ids of the library tokenizers, which ignores their ids in the file:
  // the id in the vocabulary, or the next one from its size on. Drops repeated tokens.
  bool assign_ids(const TextModel &source, const TextIndex &places) {
    auto next = static_cast<std::uint32_t>(source.texts.size());
    std::map<std::string, std::vector<bool>> seen; // the flags of each token by its content
    std::vector<AddedToken> added;
    std::vector<bool> special;
    std::set<std::uint32_t> ids;
    for (std::size_t i = 0; i < spec_.added.size(); ++i) {
      AddedToken &token = spec_.added[i];
      const std::vector<bool> flags{token.normalized, token.lstrip, token.rstrip,
                                    token.single_word, spec_.added_special[i]};
      const auto [entry, is_new] = seen.emplace(token.content, flags);
      if (entry->second != flags) {
        error_ = unsupported("added_tokens has " + quote(token.content) +
                             " twice, with different flags; list it once");
        return false;
      }
      if (!is_new)
        continue;
      const std::uint32_t place = places.find(token.content);
      token.id = place != TextIndex::NO_TEXT ? source.ids[place] : next++;
      if (!ids.insert(token.id).second) { // the ids of the vocabulary have gaps
        error_ = malformed("two added tokens have id " + std::to_string(token.id) +
                           "; ids must be unique");
        return false;
      }
      added.push_back(std::move(token));
      special.push_back(spec_.added_special[i]);
    }
    spec_.added = std::move(added);
    spec_.added_special = std::move(special);
    return true;
  }

  bool read_merges(const JsonPart &merges, TextModel &source) {
    array listed;
    if (!merges.list(listed, error_))
      return false;
    for (const element merge : listed) {
      std::string_view text;
      array pair;
      TextMerge text_merge;
      bool is_pair = false;
      if (merge.get(text) == simdjson::SUCCESS) {
        is_pair = split_merge(text, text_merge);
      } else if (merge.get(pair) == simdjson::SUCCESS && pair.size() == 2) {
        is_pair = pair.at(0).get(text_merge.left) == simdjson::SUCCESS &&
                  pair.at(1).get(text_merge.right) == simdjson::SUCCESS;
      }
      if (!is_pair)
        return fail_malformed({merge, !merge.is_null(),
                               "model.merges[" + std::to_string(source.merges.size()) + "]"},
                              "two tokens, as \"a b\" or [\"a\", \"b\"]");
      source.merges.push_back(text_merge);
    }
    return true;
  }

  JsonPart file_;
  TokenizerSpec &spec_;
  LoadError error_;
  TextSpec text_; // used if the tokens are text
  std::string_view unknown_;
  bool ignore_merges_ = false;
  std::vector<DecoderStep> decoder_;
  bool joins_bytes_ = false;
};

// Returns the error for JSON that is not a tokenizer.json.
LoadError other_json(const JsonPart &file) {
  object members;
  LoadError error;
  if (!file.object(members, error))
    return error;
  bool is_vocab = members.size() != 0;
  for (const auto &member : members)
    is_vocab = is_vocab && JsonPart{member.value, true, ""}.is_number();
  if (is_vocab)
    return unsupported(
        "this is a vocab.json, which only Python reads; use its tokenizer.json, or convert it "
        "in Python: bpe.load(path).save(\"name.pretok\")");
  return malformed("the JSON has no object \"model\"; expected a tokenizer.json");
}

} // namespace

LoadError read_tokenizer_json(std::string_view text, TokenizerSpec &spec) {
  if (text.size() > MAX_JSON_BYTES)
    return malformed("the JSON has " + std::to_string(text.size()) +
                     " bytes; expected at most " + std::to_string(MAX_JSON_BYTES));
  const std::size_t count = count_json_containers(text);
  if (count > max_json_containers(text.size()))
    return malformed("the JSON has " + std::to_string(count) + " lists and objects in " +
                     std::to_string(text.size()) + " bytes, too many for a tokenizer");
  if (text.substr(0, 3) == "\xef\xbb\xbf")
    text.remove_prefix(3);
  simdjson::dom::parser parser;
  JsonPart file;
  const simdjson::error_code parse_error =
      parser.parse(text.data(), text.size()).get(file.value);
  if (parse_error != simdjson::SUCCESS)
    return malformed(std::string("the JSON is not valid: ") +
                     simdjson::error_message(parse_error));
  file.is_present = true;
  if (has_duplicate_member(file.value))
    return malformed("an object in the JSON has a duplicate member");
  element inner;
  object part;
  if (file.value.at_key("model").get(inner) != simdjson::SUCCESS ||
      inner.get(part) != simdjson::SUCCESS)
    return other_json(file);
  return TokenizerJson(file.value, spec).read();
}

} // namespace pretok
