#include "capi/load_tokenizer.hpp"

#include "capi/find_pre_tokenizer.hpp"
#include "capi/options.hpp"
#include "capi/special_policy.hpp"
#include "core/base/ids.hpp"
#include "core/unicode/alphabet.hpp"
#include "formats/character_spec.hpp"
#include "formats/decoder_spec.hpp"
#include "formats/load_error.hpp"
#include "formats/read_spec.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace pretok {
namespace {

// A table in which all code points have the same class. It is enough for a model that merges
// characters, because the split of such a model depends on no Unicode version.
constexpr std::uint32_t ONE_CLASS[] = {0};

// Returns the number of bytes of `text` that a message quotes.
int quoted_size(const std::string &text) {
  return static_cast<int>(std::min<std::size_t>(text.size(), 60));
}

// Sets `split` to the pre-tokenizer of the options, or else to that of the file.
pretok_status choose_split(const TokenizerSpec &spec, const pretok_load_options &options,
                           std::optional<NamedPreTokenizer> &split, pretok_error *error) {
  if (spec.characters || spec.text) {
    if (options.pre_tokenizer != nullptr || options.preset != nullptr ||
        options.unicode != nullptr || options.normalizer != nullptr)
      return fail(error, PRETOK_INVALID_ARGUMENT,
                  "the file says how to split and normalize text for this model; load it "
                  "without options.preset, unicode, normalizer and pre_tokenizer");
  }
  if (options.normalizer != nullptr && (!spec.steps.empty() || spec.metaspace))
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "the file has a normalizer of its own; load it without options.normalizer");
  if (spec.characters || !spec.stages.empty()) {
    const UnicodeTable table = spec.unicode.empty() || spec.characters
                                   ? UnicodeTable{ONE_CLASS, 1}
                                   : unicode_table(spec.unicode);
    if (table.size == 0)
      return fail(error, PRETOK_UNKNOWN_NAME,
                  "the library lacks the tables of Unicode %s, which the file needs",
                  spec.unicode.c_str());
    split.emplace(NamedPreTokenizer{
        "", PreTokenizer(spec.characters ? character_stages(spec) : spec.stages, table)});
    return PRETOK_OK;
  }
  const char *const unicode = options.unicode != nullptr  ? options.unicode
                              : options.preset != nullptr ? nullptr
                              : !spec.unicode.empty()     ? spec.unicode.c_str()
                                                          : nullptr;
  if (options.pre_tokenizer != nullptr) {
    if (options.preset != nullptr || options.unicode != nullptr)
      return fail(error, PRETOK_INVALID_ARGUMENT,
                  "set options.pre_tokenizer or options.%s, not both",
                  options.preset != nullptr ? "preset" : "unicode");
    split.emplace(options.pre_tokenizer->named);
    return PRETOK_OK;
  }
  if (options.preset != nullptr)
    return find_pre_tokenizer(options.preset, unicode, split, error);
  if (!spec.program.empty())
    return read_pre_tokenizer(spec.program.data(), spec.program.size(),
                              unicode != nullptr ? unicode : "", split, error);
  if (!spec.preset.empty())
    return find_pre_tokenizer(spec.preset.c_str(), unicode, split, error);
  return fail(
      error, PRETOK_INVALID_ARGUMENT,
      "%s; set options.preset to the name of the split that the model was trained with, "
      "such as \"gpt2\", \"llama3\" or \"qwen2\"",
      spec.why_no_preset.c_str());
}

// Appends the special tokens of the caller to the added tokens of the file. Skips a token that
// the file already has. Fails if the file has it with another id.
pretok_status join_added(TokenizerSpec &spec, const pretok_load_options &options,
                         pretok_error *error) {
  if (options.special_token_count != 0 && options.special_tokens == nullptr)
    return missing(error, "options.special_tokens");
  spec.added_special.resize(spec.added.size());
  std::map<std::string, std::uint32_t> listed;
  for (const AddedToken &token : spec.added)
    listed.emplace(token.content, token.id);
  for (std::size_t i = 0; i < options.special_token_count; ++i) {
    const pretok_special_token &special_token = options.special_tokens[i];
    if (special_token.text == nullptr || special_token.size == 0 ||
        !is_utf8({special_token.text, special_token.size}))
      return fail(error, PRETOK_INVALID_ARGUMENT,
                  "options.special_tokens[%zu].text is NULL, empty or not UTF-8; expected "
                  "UTF-8 that is not empty",
                  i);
    AddedToken token;
    token.content.assign(special_token.text, special_token.size);
    token.id = special_token.id;
    const auto [entry, is_new] = listed.emplace(token.content, token.id);
    if (entry->second != token.id)
      return fail(error, PRETOK_INVALID_ARGUMENT,
                  "options.special_tokens has \"%.*s\" with id %lu, but its id is already %lu; "
                  "remove it, or correct the id",
                  quoted_size(token.content), token.content.c_str(),
                  static_cast<unsigned long>(token.id),
                  static_cast<unsigned long>(entry->second));
    if (!is_new)
      continue;
    spec.added.push_back(std::move(token));
    spec.added_special.push_back(true);
  }
  return PRETOK_OK;
}

// Adds each added token to the vocabulary, unless the vocabulary already has a token with its
// id. Fails if this token has other bytes and is mergeable (a token of the model itself).
pretok_status place_added(TokenizerSpec &spec, pretok_error *error) {
  VocabularyData &data = spec.vocabulary;
  constexpr std::size_t NOWHERE = static_cast<std::size_t>(-1);
  struct Place {
    std::size_t start = NOWHERE;
    std::size_t size = 0;
    bool mergeable = false;
  };
  std::vector<Place> places;
  const auto place_of = [&places](std::uint32_t id) -> Place & {
    if (id >= places.size())
      places.resize(std::size_t{id} + 1);
    return places[id];
  };
  std::size_t start = 0;
  for (std::size_t i = 0; i < data.ids.size(); ++i) {
    place_of(data.ids[i]) = {start, data.lengths[i], i < data.mergeable};
    start += data.lengths[i];
  }
  for (const AddedToken &token : spec.added) {
    if (token.id >= ID_LIMIT)
      return fail(error, PRETOK_INVALID_ARGUMENT,
                  "added token \"%.*s\" has id %lu; expected at most %lu",
                  quoted_size(token.content), token.content.c_str(),
                  static_cast<unsigned long>(token.id),
                  static_cast<unsigned long>(ID_LIMIT - 1));
    Place &place = place_of(token.id);
    if (place.start == NOWHERE) {
      place = {data.bytes.size(), token.content.size(), false};
      data.bytes.insert(data.bytes.end(), token.content.begin(), token.content.end());
      data.lengths.push_back(static_cast<std::uint32_t>(token.content.size()));
      data.ids.push_back(token.id);
    } else if (place.mergeable &&
               !names_token(token.content,
                            {reinterpret_cast<const char *>(data.bytes.data()) + place.start,
                             place.size},
                            spec)) {
      // The id belongs to a mergeable token with other bytes. This is an error. (Two added
      // tokens may share an id, as in o200k_harmony. The id then decodes to the first of the
      // two.)
      return fail(error, PRETOK_INVALID_ARGUMENT,
                  "added token \"%.*s\" has id %lu, but another token has this id too; give "
                  "each token its own id",
                  quoted_size(token.content), token.content.c_str(),
                  static_cast<unsigned long>(token.id));
    }
  }
  return PRETOK_OK;
}

// Sets tokenizer.no_token and tokenizer.lacks_bytes.
void note_bytes(const VocabularyData &data, pretok_tokenizer &tokenizer) {
  tokenizer.no_token.fill(true);
  std::size_t start = 0;
  for (std::size_t i = 0; i < data.mergeable; ++i) {
    if (data.lengths[i] == 1)
      tokenizer.no_token[data.bytes[start]] = false;
    start += data.lengths[i];
  }
  const auto &no_token = tokenizer.no_token;
  tokenizer.lacks_bytes = std::find(no_token.begin(), no_token.end(), true) != no_token.end();
}

// Fails if the normalizer makes the content of an added token empty.
pretok_status check_contents(const pretok_tokenizer &tokenizer, pretok_error *error) {
  for (const AddedToken &token : tokenizer.added)
    if (token.normalized && tokenizer.chain &&
        tokenizer.chain->normalized(token.content).empty())
      return fail(error, PRETOK_MALFORMED,
                  "the normalizer changes added token \"%.*s\" to an empty text; set its flag "
                  "`normalized` to false",
                  quoted_size(token.content), token.content.c_str());
  return PRETOK_OK;
}

// Fails if an id of the template has no token.
pretok_status check_template(const pretok_tokenizer &tokenizer, pretok_error *error) {
  const Template &ids_around = tokenizer.pipeline->ids_around();
  for (const auto *ids : {&ids_around.before, &ids_around.after})
    for (const std::uint32_t id : *ids)
      if (tokenizer.decoder->token(id).bytes == nullptr)
        return fail(error, PRETOK_MALFORMED,
                    "the template of the file has id %lu, but no token has this id; correct "
                    "the id, or add a token",
                    static_cast<unsigned long>(id));
  return PRETOK_OK;
}

} // namespace

pretok_status read_load_options(const pretok_load_options *caller_options,
                                pretok_load_options &options, pretok_error *error) {
  if (const pretok_status status = read_options(caller_options, options, error))
    return status;
  if (options.normalizer != nullptr && std::strcmp(options.normalizer, "NFC") != 0)
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "options.normalizer is \"%.20s\"; expected NULL or \"NFC\"",
                options.normalizer);
  return PRETOK_OK;
}

pretok_status load_tokenizer(TokenizerSpec &&spec, const pretok_load_options &options,
                             std::unique_ptr<pretok_tokenizer> &result, pretok_error *error) {
  std::optional<NamedPreTokenizer> split;
  if (const pretok_status status = choose_split(spec, options, split, error))
    return status;
  // Models whose tokens are text decode to other texts anyway, so they may drop some text.
  if (split->pre_tokenizer.removes() && !spec.text)
    return fail(error, PRETOK_REMOVES_TEXT,
                "preset \"%s\" drops some text, but ids must decode to the whole text; choose "
                "a preset that keeps all text",
                split->name.c_str());
  const std::size_t file_added = spec.added.size();
  if (const pretok_status status = join_added(spec, options, error))
    return status;
  if (const pretok_status status = place_added(spec, error))
    return status;
  result = std::make_unique<pretok_tokenizer>(std::move(*split));
  pretok_tokenizer &tokenizer = *result;
  const std::vector<std::uint32_t> &ids = spec.vocabulary.ids;
  tokenizer.id_limit = *std::max_element(ids.begin(), ids.end()) + std::size_t{1};
  const bool has_fallback = spec.characters && spec.characters->has_fallback;
  if (!spec.steps.empty() || spec.metaspace)
    tokenizer.chain.emplace(std::move(spec.steps), std::move(spec.metaspace));
  if (tokenizer.chain) {
    std::vector<std::string> contents;
    for (const AddedToken &token : spec.added)
      if (token.normalized)
        contents.push_back(token.content);
    const std::string problem = tokenizer.chain->problem_of_contents(contents);
    if (!problem.empty())
      return fail(error, PRETOK_UNSUPPORTED, "%s", problem.c_str());
  }
  std::optional<DecoderChain> decoders;
  if (spec.decoder)
    decoders = decoder_chain(spec, tokenizer.chain ? &*tokenizer.chain : nullptr);
  std::optional<TextTokens> texts;
  if (spec.characters) {
    texts = text_tokens(spec, file_added);
    if (spec.characters->normalizer)
      tokenizer.normalizer.emplace(make_normalizer(spec));
  } else if (!spec.text) {
    note_bytes(spec.vocabulary, tokenizer);
  }
  std::vector<bool> fallback = fallback_tokens(spec);
  const char *const build_error = take_vocabulary(spec, tokenizer.vocabulary);
  if (build_error != nullptr)
    return fail(error, PRETOK_MALFORMED, "the vocabulary of the file is damaged: %s",
                build_error);
  tokenizer.encoder.emplace(
      tokenizer.named.pre_tokenizer, tokenizer.vocabulary,
      spec.characters ? spec.characters->spaces : TextSpaces::of(spec.add_prefix_space),
      options.cache_bytes != 0 ? options.cache_bytes : CacheBudget::DEFAULT_LIMIT,
      has_fallback && !spec.characters->splits_at_marks);
  Template ids_around{std::move(spec.before), std::move(spec.after)};
  if (tokenizer.chain)
    tokenizer.pipeline.emplace(*tokenizer.encoder, *tokenizer.chain, std::move(ids_around));
  else if (tokenizer.normalizer)
    tokenizer.pipeline.emplace(*tokenizer.encoder, *tokenizer.normalizer,
                               std::move(ids_around));
  else
    tokenizer.pipeline.emplace(*tokenizer.encoder,
                               spec.nfc || options.normalizer != nullptr ? Normalizer::NFC
                                                                         : Normalizer::NONE,
                               std::move(ids_around));
  tokenizer.added = std::move(spec.added);
  std::vector<bool> special(tokenizer.id_limit);
  for (std::size_t i = 0; i < tokenizer.added.size(); ++i)
    if ((tokenizer.added[i].special = spec.added_special[i]))
      special[tokenizer.added[i].id] = true;
  tokenizer.decoder.emplace(tokenizer.vocabulary, std::move(texts), std::move(decoders),
                            std::move(special), std::move(fallback));
  if (const pretok_status status = check_contents(tokenizer, error))
    return status;
  make_policies(tokenizer);
  return check_template(tokenizer, error);
}

} // namespace pretok
