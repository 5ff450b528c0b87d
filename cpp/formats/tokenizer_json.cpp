#include "tokenizer_json.hpp"

#include "json_part.hpp"
#include "text_model.hpp"
#include "vocabulary.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

struct KnownSplit {
  std::string_view preset;
  std::string_view parts; // as write_part writes them
};

#include "generated/pre_tokenizers.inc"

constexpr std::size_t DEEPEST_PART = 16;

// Writes a value so that values that are equal are written alike; false if that takes more than
// a pre_tokenizer does. pretok/generate.py writes the same.
bool write_part(element value, std::string &to, std::size_t depth = 0) {
  object members;
  array items;
  std::string_view text;
  bool flag = false;
  std::int64_t number = 0;
  if (depth == DEEPEST_PART)
    return false;
  if (value.get(members) == simdjson::SUCCESS) {
    std::vector<std::pair<std::string_view, element>> sorted;
    for (const auto &[name, member] : members)
      sorted.emplace_back(name, member);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto &a, const auto &b) { return a.first < b.first; });
    to += '{';
    for (const auto &[name, member] : sorted) {
      to += std::to_string(name.size()) + ':';
      to += name;
      if (!write_part(member, to, depth + 1))
        return false;
    }
    to += '}';
  } else if (value.get(items) == simdjson::SUCCESS) {
    to += '[';
    for (const element item : items)
      if (!write_part(item, to, depth + 1))
        return false;
    to += ']';
  } else if (value.get(text) == simdjson::SUCCESS) {
    to += std::to_string(text.size()) + ':';
    to += text;
  } else if (value.get(flag) == simdjson::SUCCESS) {
    to += flag ? 'T' : 'F';
  } else if (value.get(number) == simdjson::SUCCESS) {
    to += '#' + std::to_string(number) + ';';
  } else {
    return false;
  }
  return true;
}

class TokenizerJson {
public:
  TokenizerJson(element file, Model &model) : file_{file, true, ""}, model_(model) {}

  Fault read() {
    read_all();
    return std::move(fault_);
  }

private:
  bool read_all() {
    JsonPart model;
    if (!file_.only({"version", "truncation", "padding", "added_tokens", "normalizer",
                     "pre_tokenizer", "post_processor", "decoder", "model"},
                    fault_))
      return false;
    for (const char *name : {"truncation", "padding"}) {
      JsonPart part;
      if (!file_.get(name, part, fault_))
        return false;
      if (part.is_there)
        return is_not_done(part, "texts are kept as long as they are; set it to null");
    }
    return file_.get("model", model, fault_) && check_options(model) && read_normalizer() &&
           read_split() && check_decoder() && read_added() && read_vocabulary(model) &&
           read_template();
  }

  bool is_not_done(const JsonPart &part, const std::string &advice) {
    fault_ = part.unsupported(advice);
    return false;
  }

  bool is_wrong(const JsonPart &part, const std::string &expected) {
    fault_ = part.malformed(expected);
    return false;
  }

  bool check_options(const JsonPart &model) {
    JsonPart option;
    std::string_view text;
    bool flag = false;
    if (!model.get("type", option, fault_) || (option.is_there && !option.text(text, fault_)))
      return false;
    if (option.is_there && text != "BPE")
      return is_not_done(option, "byte-level BPE is read");
    if (!model.only({"type", "vocab", "merges", "dropout", "unk_token",
                     "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                     "byte_fallback", "ignore_merges"},
                    fault_))
      return false;
    for (const char *name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!model.get(name, option, fault_))
        return false;
      text = {};
      if (option.is_there &&
          (!option.is(element_type::STRING) || !option.text(text, fault_) || !text.empty()))
        return is_not_done(option, "a byte-level BPE has none");
    }
    double dropout = 0;
    if (!model.get("dropout", option, fault_))
      return false;
    if (option.is_there && !option.is_number() && !option.is(element_type::DOUBLE))
      return is_wrong(option, "null or a number");
    if (option.is_there &&
        (option.value.get(dropout) != simdjson::SUCCESS || dropout < 0 || dropout > 0))
      return is_not_done(option, "with it ids are random; set it to null");
    // Without effect where each byte is a token.
    if (!model.get("unk_token", option, fault_) ||
        (option.is_there && !option.text(text, fault_)))
      return false;
    for (const char *name : {"fuse_unk", "byte_fallback"})
      if (!model.get(name, option, fault_) || !option.flag_or_false(flag, fault_))
        return false;
    return true;
  }

  bool read_normalizer() {
    JsonPart normalizer;
    std::vector<JsonPart> parts;
    if (!file_.get("normalizer", normalizer, fault_) ||
        !normalizer.parts("normalizers", parts, fault_))
      return false;
    for (const JsonPart &part : parts) {
      std::string_view kind;
      if (!part.is_there)
        continue;
      if (!part.kind(kind, fault_))
        return false;
      if (kind != "NFC")
        return is_not_done(part, "NFC is known, or none (null)");
      if (!part.only({"type"}, fault_))
        return false;
      model_.nfc = true;
    }
    return true;
  }

  // What cannot be told is no fault here: a preset may be chosen.
  bool read_split() {
    JsonPart split;
    std::vector<JsonPart> parts;
    if (!file_.get("pre_tokenizer", split, fault_) ||
        !split.parts("pretokenizers", parts, fault_))
      return false;
    std::string written;
    bool add_prefix_space = false;
    model_.why_no_preset = "pre_tokenizer is not written as for a preset that is built in";
    std::string_view kind;
    if (parts.empty() || !parts.back().is_there)
      return true;
    if (!parts.back().kind(kind, fault_))
      return false;
    if (kind != "ByteLevel")
      return true;
    for (const JsonPart &part : parts) {
      bool use_regex = true;
      if (!part.is_there)
        return true;
      if (!part.kind(kind, fault_))
        return false;
      if (kind != "ByteLevel") {
        if (!write_part(part.value, written))
          return true;
      } else if (!read_byte_level(part, add_prefix_space, use_regex) ||
                 (add_prefix_space && parts.size() > 1)) {
        return true;
      } else {
        written += use_regex ? "BYTES+GPT2" : "BYTES";
      }
    }
    for (const KnownSplit &known : KNOWN_SPLITS)
      if (known.parts == written) {
        model_.preset = known.preset;
        model_.why_no_preset.clear();
        model_.add_prefix_space = add_prefix_space;
        break;
      }
    return true;
  }

  // Whether it is as it is to be.
  static bool read_byte_level(const JsonPart &part, bool &add_prefix_space, bool &use_regex) {
    object members;
    bool trims = false;
    bool found = part.value.get(members) == simdjson::SUCCESS &&
                 members["add_prefix_space"].get(add_prefix_space) == simdjson::SUCCESS &&
                 members["trim_offsets"].get(trims) == simdjson::SUCCESS;
    std::size_t known = 3;
    element given;
    if (found && members["use_regex"].get(given) == simdjson::SUCCESS) {
      found = given.get(use_regex) == simdjson::SUCCESS;
      known = 4;
    }
    return found && members.size() == known;
  }

  bool check_decoder() {
    std::vector<JsonPart> pending(1);
    if (!file_.get("decoder", pending[0], fault_))
      return false;
    while (!pending.empty()) {
      const JsonPart part = std::move(pending.back());
      pending.pop_back();
      std::string_view kind;
      if (!part.is_there)
        continue;
      if (!part.kind(kind, fault_))
        return false;
      if (kind == "Sequence") {
        JsonPart inner;
        std::vector<JsonPart> items;
        if (!part.get("decoders", inner, fault_) || !inner.items(items, fault_))
          return false;
        pending.insert(pending.end(), items.rbegin(), items.rend());
      } else if (kind != "ByteLevel") {
        return is_not_done(part, "ByteLevel is known");
      }
    }
    return true;
  }

  bool read_added() {
    JsonPart listed;
    std::vector<JsonPart> items;
    if (!file_.get("added_tokens", listed, fault_))
      return false;
    if (listed.is_there && !listed.items(items, fault_))
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
    const auto flag = [&](const char *name, bool &found) {
      return item.get(name, part, fault_) && part.flag(found, fault_);
    };
    if (!item.get("id", part, fault_) || !part.id(token.id, fault_) ||
        !item.only(
            {"content", "single_word", "lstrip", "rstrip", "normalized", "special", "id"},
            fault_) ||
        !flag("single_word", token.single_word) || !flag("lstrip", token.lstrip) ||
        !flag("rstrip", token.rstrip) || !flag("normalized", token.normalized) ||
        !flag("special", special) || !item.get("content", part, fault_) ||
        !part.text(content, fault_))
      return false;
    if (content.empty())
      return is_wrong(part, "some text");
    token.content = content;
    model_.added.push_back(std::move(token));
    model_.added_special.push_back(special);
    return true;
  }

  bool read_vocabulary(const JsonPart &model) {
    TextModel source;
    JsonPart part;
    if (!model.get("vocab", part, fault_) || !read_texts(part, source))
      return false;
    const TextPlaces places(source.texts);
    for (std::size_t place = 0; place < source.texts.size(); ++place)
      if (places.find(source.texts[place]) != place) {
        fault_ = malformed("model.vocab has " + shown(source.texts[place]) + " twice");
        return false;
      }
    if (!check_assigned(source, places) || !model.get("merges", part, fault_) ||
        !read_merges(part, source) || !model.get("ignore_merges", part, fault_) ||
        !part.flag_or_false(source.ignore_merges, fault_))
      return false;
    source.merges_at = "model.merges";
    fault_ = build_vocabulary(source, places, model_);
    return !fault_;
  }

  bool read_texts(const JsonPart &vocab, TextModel &source) {
    object members;
    if (!vocab.object(members, fault_))
      return false;
    std::vector<bool> seen;
    for (const auto &[text, value] : members) {
      std::uint32_t id = 0;
      const JsonPart entry{value, !value.is_null(), "model.vocab[" + shown(text) + "]"};
      if (!entry.id(id, fault_))
        return false;
      if (id >= seen.size())
        seen.resize(std::size_t{id} + 1);
      if (seen[id])
        return is_wrong(entry, "an id that no other has");
      seen[id] = true;
      source.texts.push_back(text);
      source.ids.push_back(id);
    }
    return true;
  }

  // tokenizers gives an added token the id that it has in the vocabulary; the others count on
  // from the number of entries.
  bool check_assigned(const TextModel &source, const TextPlaces &places) {
    std::size_t next = source.texts.size();
    for (std::size_t i = 0; i < model_.added.size(); ++i) {
      const AddedToken &token = model_.added[i];
      const std::uint32_t place = places.find(token.content);
      const std::size_t id = place != TextPlaces::NONE ? source.ids[place] : next++;
      if (token.id == id)
        continue;
      fault_ = malformed("added_tokens[" + std::to_string(i) + "].id is " +
                         std::to_string(token.id) + ", but tokenizers gives " +
                         shown(token.content) + " the id " + std::to_string(id));
      return false;
    }
    return true;
  }

  bool read_merges(const JsonPart &merges, TextModel &source) {
    array listed;
    if (!merges.list(listed, fault_))
      return false;
    for (const element merge : listed) {
      std::string_view text;
      array pair;
      TextMerge found;
      bool good = false;
      if (merge.get(text) == simdjson::SUCCESS) {
        const std::size_t space = text.find(' ');
        good = space != std::string_view::npos &&
               text.find(' ', space + 1) == std::string_view::npos;
        if (good)
          found = {text.substr(0, space), text.substr(space + 1)};
      } else if (merge.get(pair) == simdjson::SUCCESS && pair.size() == 2) {
        good = pair.at(0).get(found.left) == simdjson::SUCCESS &&
               pair.at(1).get(found.right) == simdjson::SUCCESS;
      }
      if (!good)
        return is_wrong({merge, !merge.is_null(),
                         "model.merges[" + std::to_string(source.merges.size()) + "]"},
                        "two tokens, as \"a b\" or [\"a\", \"b\"]");
      source.merges.push_back(found);
    }
    return true;
  }

  bool read_template() {
    JsonPart post_processor;
    std::vector<JsonPart> parts;
    if (!file_.get("post_processor", post_processor, fault_) ||
        !post_processor.parts("processors", parts, fault_))
      return false;
    for (const JsonPart &part : parts) {
      std::string_view kind;
      std::vector<std::uint32_t> before;
      std::vector<std::uint32_t> after;
      if (!part.is_there)
        continue;
      if (!part.kind(kind, fault_))
        return false;
      if (kind == "TemplateProcessing") {
        if (!read_pieces(part, before, after))
          return false;
      } else if (kind == "RobertaProcessing" || kind == "BertProcessing") {
        if (!part.only({"type", "sep", "cls", "trim_offsets", "add_prefix_space"}, fault_) ||
            !read_end(part, "cls", before) || !read_end(part, "sep", after))
          return false;
      } else if (kind != "ByteLevel") { // which changes offsets only
        return is_not_done(part, "TemplateProcessing, RobertaProcessing, BertProcessing and "
                                 "ByteLevel are known");
      }
      model_.before.insert(model_.before.begin(), before.begin(), before.end());
      model_.after.insert(model_.after.end(), after.begin(), after.end());
    }
    return true;
  }

  bool read_pieces(const JsonPart &part, std::vector<std::uint32_t> &before,
                   std::vector<std::uint32_t> &after) {
    JsonPart single;
    JsonPart special;
    std::vector<JsonPart> pieces;
    if (!part.only({"type", "single", "pair", "special_tokens"}, fault_) ||
        !part.get("single", single, fault_) || !single.items(pieces, fault_) ||
        !part.get("special_tokens", special, fault_))
      return false;
    bool is_behind = false;
    for (const JsonPart &piece : pieces) {
      JsonPart token;
      JsonPart sequence;
      JsonPart id;
      std::string_view name;
      if (!piece.only({"SpecialToken", "Sequence"}, fault_) ||
          !piece.get("SpecialToken", token, fault_) || !piece.get("Sequence", sequence, fault_))
        return false;
      if (!(token.is_there ? token : sequence).get("id", id, fault_) || !id.text(name, fault_))
        return false;
      if (token.is_there) {
        if (!read_special(special, name, is_behind ? after : before))
          return false;
      } else if (name != "A" || std::exchange(is_behind, true)) {
        return is_not_done(piece, "a template for one text has that, \"A\", once");
      }
    }
    return is_behind || is_not_done(single, "a template for one text has that, \"A\", once");
  }

  // The ids of a special token of a template.
  bool read_special(const JsonPart &special, std::string_view name,
                    std::vector<std::uint32_t> &to) {
    JsonPart token;
    JsonPart listed;
    std::vector<JsonPart> ids;
    if (!special.get(name, token, fault_) || !token.get("ids", listed, fault_) ||
        !listed.items(ids, fault_))
      return false;
    return std::all_of(ids.begin(), ids.end(), [&](const JsonPart &each) {
      to.push_back(0);
      return each.id(to.back(), fault_);
    });
  }

  // The id of a pair of a text and its id.
  bool read_end(const JsonPart &part, const char *name, std::vector<std::uint32_t> &to) {
    JsonPart pair;
    std::vector<JsonPart> items;
    std::string_view text;
    if (!part.get(name, pair, fault_) || !pair.items(items, fault_))
      return false;
    if (items.size() != 2)
      return is_wrong(pair, "a text and its id");
    to.push_back(0);
    return items[0].text(text, fault_) && items[1].id(to.back(), fault_);
  }

  JsonPart file_;
  Model &model_;
  Fault fault_;
};

// What JSON is that is no tokenizer.json.
Fault other_json(const JsonPart &file) {
  object members;
  Fault fault;
  if (!file.object(members, fault))
    return fault;
  bool is_vocab = members.size() != 0;
  for (const auto &member : members)
    is_vocab = is_vocab && JsonPart{member.value, true, ""}.is_number();
  if (is_vocab)
    return unsupported(
        "this is a vocab.json, which is not read; give a tokenizer.json, or with "
        "Python's bpe a .pretok file of both its files: "
        "bpe.load(path).save(\"name.pretok\")");
  return malformed("the JSON is no tokenizer.json, which has an object \"model\"");
}

} // namespace

Fault read_tokenizer_json(std::string_view text, Model &model) {
  if (text.substr(0, 3) == "\xef\xbb\xbf")
    text.remove_prefix(3);
  simdjson::dom::parser parser;
  JsonPart file;
  const simdjson::error_code wrong = parser.parse(text.data(), text.size()).get(file.value);
  if (wrong != simdjson::SUCCESS)
    return malformed(std::string("the JSON cannot be read: ") + simdjson::error_message(wrong));
  file.is_there = true;
  if (has_members_twice(file.value))
    return malformed("an object in the JSON has a member twice");
  element inner;
  object part;
  if (file.value.at_key("model").get(inner) != simdjson::SUCCESS ||
      inner.get(part) != simdjson::SUCCESS)
    return other_json(file);
  return TokenizerJson(file.value, model).read();
}

} // namespace pretok
