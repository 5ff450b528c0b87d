#include "formats/tokenizer_json.hpp"

#include "core/bpe/vocabulary.hpp"
#include "core/unicode/byte_level.hpp"
#include "formats/json_part.hpp"
#include "formats/json_readers.hpp"
#include "formats/text_spec.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace pretok {
namespace {

// Limits on the text of a tokenizer.json, checked before parsing. Lists and objects take many
// times the memory of their text, so a limit on bytes alone does not bound the memory.
// pretok/json_text.py has the same limits.
constexpr std::size_t MAX_JSON_BYTES = std::size_t{1} << 27;

// Returns the number of lists and objects. Also counts brackets in strings.
std::size_t count_json_containers(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (byte | ('[' ^ '{')) == '{'; // is one of the two
  }));
}

// Returns the maximal number of lists and objects in a text of `size` bytes.
std::size_t max_json_containers(std::size_t size) { return 1000 + size / 8; }

// Fails for JSON that is not a tokenizer.json.
void fail_other_json(const JsonPart &file) {
  bool is_vocab = file.members().size() != 0;
  for (const JsonPart member : file.members())
    is_vocab = is_vocab && member.is_whole_number();
  file.fail(is_vocab ? unsupported("this is a vocab.json, which only Python reads; use its "
                                   "tokenizer.json, or convert it in Python: "
                                   "bpe.load(path).save(\"name.pretok\")")
                     : malformed("the JSON has no object \"model\"; expected a "
                                 "tokenizer.json"));
}

// Returns the error for text that is not JSON, or unusual JSON (JsonReader).
LoadError invalid_json(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_start = before.rfind('\n') + 1; // 0 in the first line
  return malformed("line " +
                   std::to_string(std::count(before.begin(), before.end(), '\n') + 1) +
                   ", byte " + std::to_string(offset - line_start + 1) +
                   ": the JSON is not valid; the file is damaged or incomplete");
}

std::string_view first_repeated(std::vector<std::string_view> texts) {
  std::sort(texts.begin(), texts.end());
  return *std::adjacent_find(texts.begin(), texts.end());
}

} // namespace

// Reads the parts of a tokenizer.json. The errors are those of the file.
class TokenizerJson::Reader {
public:
  Reader(const TokenizerJson &json, JsonFile &errors, TokenizerSpec &spec)
      : source_(json.model_), places_(*json.places_), file_(errors), model_(file_["model"]),
        spec_(spec) {}

  void read() {
    read_options();
    read_normalizer_steps(file_["normalizer"], spec_.steps);
    parts_ = file_["pre_tokenizer"].parts("pretokenizers");
    find_split(parts_, false, spec_);
    joins_bytes_ = read_decoder_steps(file_["decoder"], decoder_);
    read_added();
    if (file_.is_fine())
      assign_ids();
    if (file_.is_fine())
      read_model(ends_byte_level(parts_));
    if (file_.is_fine())
      finish();
    find_unknown();
    read_template(file_["post_processor"], spec_);
    spec_.truncation = json_of("truncation");
    spec_.padding = json_of("padding");
  }

  void read_only_model(const ModelOptions &options) {
    spec_.added = options.added;
    read_options();
    if (file_.is_fine())
      read_model(options.ends_byte_level);
  }

private:
  // Reads the members of the model except vocab and merges.
  void read_options() {
    model_.only({"type", "vocab", "merges", "dropout", "unk_token", "continuing_subword_prefix",
                 "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges"});
    text_.prefix = affix("continuing_subword_prefix");
    text_.suffix = affix("end_of_word_suffix");
    const JsonPart dropout = model_["dropout"];
    if (dropout.is_present())
      spec_.facts.dropout = dropout.fraction();
    unknown_ = model_["unk_token"].text_or("");
    text_.fuses_unknown = model_["fuse_unk"].flag_or(false);
    text_.has_fallback = model_["byte_fallback"].flag_or(false);
    ignore_merges_ = model_["ignore_merges"].flag_or(false);
  }

  // Returns a prefix or suffix of tokens, which may be absent.
  std::string affix(const char *name) const {
    const JsonPart part = model_[name];
    return part.is_present() ? part.short_text(true) : "";
  }

  std::string json_of(const char *name) const {
    const JsonPart part = file_[name];
    if (part.is_present())
      part.members(); // fails if the part is not an object
    return std::string(part.json());
  }

  void read_added() {
    const JsonPart listed = file_["added_tokens"];
    if (listed.is_present())
      for (const JsonPart item : listed.items())
        if (item.is_fine())
          read_added_token(item);
  }

  void read_added_token(const JsonPart &item) {
    AddedToken token;
    token.id = item["id"].id();
    item.only({"content", "single_word", "lstrip", "rstrip", "normalized", "special", "id"});
    token.single_word = item["single_word"].flag();
    token.lstrip = item["lstrip"].flag();
    token.rstrip = item["rstrip"].flag();
    token.normalized = item["normalized"].flag();
    token.special = item["special"].flag();
    token.content = item["content"].text();
    if (token.content.empty())
      return; // the library ignores it
    spec_.added.push_back(std::move(token));
  }

  // Makes the vocabulary. Its tokens are bytes, if the pre_tokenizer ends with ByteLevel and
  // the vocabulary allows it, or else text.
  void read_model(bool is_byte_level) {
    text_.byte_level = is_byte_level;
    if (is_byte_level && text_.prefix.empty() && text_.suffix.empty() &&
        has_all_bytes(places_)) {
      LoadError error = build_vocabulary(source_, ignore_merges_, places_, spec_);
      // Text may become an entry with a character that stands for no byte. Only a TextSpec can
      // hold such an entry.
      if (error.kind != LoadError::UNSUPPORTED)
        return file_.fail(std::move(error));
      spec_.vocabulary = {};
    }
    build_text();
  }

  // Sets the parts that depend on whether the tokens are bytes or text.
  void finish() {
    if (!spec_.text)
      return finish_bytes();
    read_text_split(parts_, spec_);
    spec_.decoder = std::move(decoder_);
    if (!file_.is_fine())
      return;
    const std::string problem = problem_of_text(spec_);
    if (!problem.empty())
      return fail(unsupported("the model " + problem));
    use_character_spec(spec_);
  }

  // Sets the role of the unknown token, which may be an added token.
  void find_unknown() {
    std::uint32_t &id = spec_.facts.roles[TokenRole::UNK];
    const std::uint32_t place = unknown_.empty() ? TextIndex::NO_TEXT : places_.find(unknown_);
    if (place != TextIndex::NO_TEXT)
      id = source_.ids[place];
    for (const AddedToken &token : spec_.added)
      if (place == TextIndex::NO_TEXT && token.content == unknown_)
        id = token.id;
  }

  // Sets the normalizer and the decoder of a model whose tokens are bytes.
  void finish_bytes() {
    const auto is_nfc = [](const NormalizerStep &step) { return step.is("NFC"); };
    if (std::all_of(spec_.steps.begin(), spec_.steps.end(), is_nfc)) {
      spec_.nfc = !spec_.steps.empty();
      spec_.steps.clear();
    }
    if (!joins_bytes_ || changes_added())
      spec_.decoder = std::move(decoder_);
  }

  // Returns whether ByteLevel decodes an added token to other bytes: "é" to the byte 0xE9.
  bool changes_added() const {
    for (const AddedToken &token : spec_.added) {
      std::vector<std::uint8_t> bytes;
      if (append_bytes(token.content, bytes) && bytes.size() != token.content.size())
        return std::any_of(decoder_.begin(), decoder_.end(),
                           [](const DecoderStep &step) { return step.is("ByteLevel"); });
    }
    return false;
  }

  // Makes a model whose tokens are text.
  void build_text() {
    if (!unknown_.empty()) {
      const std::uint32_t place = places_.find(unknown_);
      if (place == TextIndex::NO_TEXT)
        return fail(
            malformed("the unknown token is ", quote(unknown_),
                      ", which is not in the vocabulary; add it, or name another token"));
      text_.unknown_id = source_.ids[place];
    }
    VocabularyData &data = spec_.vocabulary;
    if (LoadError error = list_texts(source_, places_, data, text_.prefix))
      return fail(std::move(error));
    data.ignore_merges = ignore_merges_;
    if (data.ids.empty())
      return fail(malformed("model.vocab has no token; expected at least one"));
    spec_.text = std::move(text_);
  }

  // Gives added tokens the ids of the library tokenizers, which ignores their ids in the file:
  // the id in the vocabulary, or the next one from its size on. Drops repeated tokens.
  void assign_ids() {
    auto next = static_cast<std::uint32_t>(source_.texts.size());
    std::map<std::string, std::size_t> indices; // of each token in `added`, by its content
    std::vector<AddedToken> added;
    std::set<std::uint32_t> ids;
    std::set<std::pair<std::size_t, std::uint32_t>> ignored; // in spec_.ignored_ids
    for (AddedToken &token : spec_.added) {
      const auto [entry, is_new] = indices.emplace(token.content, added.size());
      const std::size_t index = entry->second;
      const std::uint32_t listed_id = token.id;
      if (is_new) {
        const std::uint32_t place = places_.find(token.content);
        token.id = place != TextIndex::NO_TEXT ? source_.ids[place] : next++;
        if (!ids.insert(token.id).second) // the ids of the vocabulary have gaps
          return fail(malformed("two added tokens have id ", token.id, "; ids must be unique"));
        added.push_back(token);
      } else if (!has_same_flags(token, added[index])) {
        return fail(unsupported("added_tokens has ", quote(token.content),
                                " twice, with different flags; list it once"));
      }
      if (listed_id != added[index].id && ignored.insert({index, listed_id}).second)
        spec_.ignored_ids.push_back({index, listed_id});
    }
    spec_.added = std::move(added);
  }

  static bool has_same_flags(const AddedToken &a, const AddedToken &b) {
    return a.normalized == b.normalized && a.lstrip == b.lstrip && a.rstrip == b.rstrip &&
           a.single_word == b.single_word && a.special == b.special;
  }

  void fail(LoadError error) const { file_.fail(std::move(error)); }

  const TextModel &source_;
  const TextIndex &places_;
  const JsonPart file_;
  const JsonPart model_;
  TokenizerSpec &spec_;
  TextSpec text_; // used if the tokens are text
  std::string_view unknown_;
  bool ignore_merges_ = false;
  std::vector<JsonPart> parts_; // of the pre_tokenizer
  std::vector<DecoderStep> decoder_;
  bool joins_bytes_ = false;
};

LoadError TokenizerJson::open(std::string_view text) {
  text_ = text;
  if (text.size() > MAX_JSON_BYTES)
    return malformed("the JSON has ", text.size(), " bytes; expected at most ", MAX_JSON_BYTES);
  const std::size_t count = count_json_containers(text);
  if (count > max_json_containers(text.size()))
    return malformed("the JSON has ", count, " lists and objects in ", text.size(),
                     " bytes, too many for a tokenizer");
  if (text.substr(0, 3) == "\xef\xbb\xbf")
    text.remove_prefix(3);
  constexpr std::size_t USUAL_BYTES = 24; // of an entry or a merge
  LoadError error;
  const auto take = [&](std::string_view outer, std::string_view name, JsonReader &json,
                        JsonStrings &strings) {
    const char *const start = json.at();
    const bool is_vocab = name == "vocab" && *start == '{';
    if (outer != "model" || !(is_vocab || (name == "merges" && *start == '[')))
      return JsonTaken::NO;
    model_.reserve(text.size() / USUAL_BYTES);
    if (!(is_vocab ? read_json_vocab : read_json_merges)(json, strings, model_, error))
      return JsonTaken::FAILED;
    (is_vocab ? vocab_ : merges_) = json.since(start);
    return JsonTaken::YES;
  };
  if (!document_.read(text, take))
    return invalid_json(text, document_.error_offset());
  if (document_.has_duplicate())
    return malformed("an object in the JSON has a duplicate member");
  if (error)
    return error;
  JsonFile file{document_, {}};
  const JsonPart whole(file);
  if (!whole.is(JsonKind::OBJECT) || !whole["model"].is(JsonKind::OBJECT)) {
    fail_other_json(whole);
    return file.error;
  }
  whole.only({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
              "post_processor", "decoder", "model"});
  const JsonPart type = whole["model"]["type"];
  if (type.text_or("BPE") != "BPE")
    type.fail_unsupported("pretok reads only BPE models");
  whole["model"]["vocab"].members(); // fail for a value that is no object or list
  whole["model"]["merges"].items();
  if (file.error)
    return file.error;
  model_.merges_name = "model.merges";
  places_.emplace(model_.texts);
  if (places_->size() != model_.texts.size())
    return malformed("model.vocab has " + quote(first_repeated(model_.texts)) + " twice");
  return {};
}

LoadError TokenizerJson::read(TokenizerSpec &spec) const {
  JsonFile file{document_, {}};
  Reader(*this, file, spec).read();
  return std::move(file.error);
}

LoadError TokenizerJson::read_model(const ModelOptions &options, TokenizerSpec &spec) const {
  JsonFile file{document_, {}};
  Reader(*this, file, spec).read_only_model(options);
  return std::move(file.error);
}

std::uint32_t TokenizerJson::find(std::string_view text) const {
  const std::uint32_t place = places_->find(text);
  return place == TextIndex::NO_TEXT ? NO_ID : model_.ids[place];
}

std::string TokenizerJson::rest() const {
  const bool vocab_is_first = vocab_.data() < merges_.data();
  const std::string_view first = vocab_is_first ? vocab_ : merges_;
  const std::string_view second = vocab_is_first ? merges_ : vocab_;
  const char *const end = text_.data() + text_.size();
  std::string rest(text_.data(), first.data());
  rest += vocab_is_first ? "{}" : "[]";
  rest.append(first.data() + first.size(), second.data());
  rest += vocab_is_first ? "[]" : "{}";
  return rest.append(second.data() + second.size(), end);
}

LoadError read_tokenizer_json(std::string_view text, TokenizerSpec &spec) {
  TokenizerJson json;
  LoadError error = json.open(text);
  return error ? error : json.read(spec);
}

} // namespace pretok
