#include "formats/tokenizer_json.hpp"

#include "core/bpe/vocabulary.hpp"
#include "formats/json_limits.hpp"
#include "formats/json_part.hpp"
#include "formats/json_split.hpp"
#include "formats/json_template.hpp"
#include "formats/text_model.hpp"

#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

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
    return file_.get("model", model, error_) && check_options(model) && read_normalizer() &&
           read_split(file_, spec_, error_) && check_decoder() && read_added() &&
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

  // Checks the members of the model except vocab and merges.
  bool check_options(const JsonPart &model) {
    JsonPart option;
    std::string_view text;
    bool flag = false;
    if (!model.get("type", option, error_) || (option.is_present && !option.text(text, error_)))
      return false;
    if (option.is_present && text != "BPE")
      return fail_unsupported(option, "pretok reads only byte-level BPE");
    if (!model.only({"type", "vocab", "merges", "dropout", "unk_token",
                     "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                     "byte_fallback", "ignore_merges"},
                    error_))
      return false;
    for (const char *name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!model.get(name, option, error_))
        return false;
      text = {};
      if (option.is_present &&
          (!option.is(element_type::STRING) || !option.text(text, error_) || !text.empty()))
        return fail_unsupported(option, "expected null or \"\", as in byte-level BPE");
    }
    double dropout = 0;
    if (!model.get("dropout", option, error_))
      return false;
    if (option.is_present && !option.is_number() && !option.is(element_type::DOUBLE))
      return fail_malformed(option, "null or a number");
    if (option.is_present &&
        (option.value.get(dropout) != simdjson::SUCCESS || dropout < 0 || dropout > 0))
      return fail_unsupported(option, "dropout makes ids random; set it to null");
    // Ignore unk_token: in a vocabulary with a token for each byte it has no effect.
    if (!model.get("unk_token", option, error_) ||
        (option.is_present && !option.text(text, error_)))
      return false;
    for (const char *name : {"fuse_unk", "byte_fallback"})
      if (!model.get(name, option, error_) || !option.flag_or_false(flag, error_))
        return false;
    return true;
  }

  bool read_normalizer() {
    JsonPart normalizer;
    std::vector<JsonPart> parts;
    if (!file_.get("normalizer", normalizer, error_) ||
        !normalizer.parts("normalizers", parts, error_))
      return false;
    for (const JsonPart &part : parts) {
      std::string_view kind;
      if (!part.is_present)
        continue;
      if (!part.kind(kind, error_))
        return false;
      if (kind != "NFC")
        return fail_unsupported(part, "expected NFC or null");
      if (!part.only({"type"}, error_))
        return false;
      spec_.nfc = true;
    }
    return true;
  }

  bool check_decoder() {
    std::vector<JsonPart> pending(1);
    if (!file_.get("decoder", pending[0], error_))
      return false;
    while (!pending.empty()) {
      const JsonPart part = std::move(pending.back());
      pending.pop_back();
      std::string_view kind;
      if (!part.is_present)
        continue;
      if (!part.kind(kind, error_))
        return false;
      if (kind == "Sequence") {
        JsonPart inner;
        std::vector<JsonPart> items;
        if (!part.get("decoders", inner, error_) || !inner.items(items, error_))
          return false;
        pending.insert(pending.end(), items.rbegin(), items.rend());
      } else if (kind != "ByteLevel") {
        return fail_unsupported(part, "expected ByteLevel or null");
      }
    }
    return true;
  }

  bool read_added() {
    JsonPart listed;
    std::vector<JsonPart> items;
    if (!file_.get("added_tokens", listed, error_))
      return false;
    if (listed.is_present && !listed.items(items, error_))
      return false;
    for (const JsonPart &item : items)
      if (!read_added_token(item))
        return false;
    return true;
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
      return fail_malformed(part, "some text");
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
    if (!check_assigned(source, places) || !model.get("merges", part, error_) ||
        !read_merges(part, source) || !model.get("ignore_merges", part, error_) ||
        !part.flag_or_false(source.ignore_merges, error_))
      return false;
    source.merges_name = "model.merges";
    error_ = build_vocabulary(source, places, spec_);
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

  // The library tokenizers ignores the ids in added_tokens, and assigns ids itself. An added
  // token that is also an entry of the vocabulary gets the id of the entry. All other added
  // tokens get consecutive ids. The first of these ids is the number of entries. Checks that
  // each id in added_tokens is the id that tokenizers assigns.
  bool check_assigned(const TextModel &source, const TextIndex &places) {
    std::size_t next = source.texts.size();
    for (std::size_t i = 0; i < spec_.added.size(); ++i) {
      const AddedToken &token = spec_.added[i];
      const std::uint32_t place = places.find(token.content);
      const std::size_t id = place != TextIndex::NO_TEXT ? source.ids[place] : next++;
      if (token.id == id)
        continue;
      error_ = malformed("added_tokens[" + std::to_string(i) + "].id is " +
                         std::to_string(token.id) + ", but the tokenizers library gives " +
                         quote(token.content) + " the id " + std::to_string(id));
      return false;
    }
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
