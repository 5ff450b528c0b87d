#include "capi/load_tokenizer.hpp"

#include "capi/options.hpp"
#include "core/unicode/utf8.hpp"
#include "formats/find_split.hpp"
#include "formats/make_tokenizer.hpp"

#include <cstring>

namespace pretok {
namespace {

// Fails if an option contradicts another one, or the file.
pretok_status check_options(const TokenizerSpec &spec, const pretok_load_options &options,
                            pretok_error *error) {
  if (spec.text && (options.pre_tokenizer != nullptr || options.preset != nullptr ||
                    options.unicode != nullptr || options.normalizer != nullptr))
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "the file says how to split and normalize text for this model; load it "
                "without options.preset, unicode, normalizer and pre_tokenizer");
  if (options.normalizer != nullptr && (!spec.steps.empty() || spec.metaspace))
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "the file has a normalizer of its own; load it without options.normalizer");
  if (options.pre_tokenizer != nullptr &&
      (options.preset != nullptr || options.unicode != nullptr))
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "set options.pre_tokenizer or options.%s, not both",
                options.preset != nullptr ? "preset" : "unicode");
  return PRETOK_OK;
}

// Returns whether the file says how to split text.
bool has_split(const TokenizerSpec &spec) {
  return spec.characters || !spec.preset.empty() || !spec.program.empty() ||
         !spec.stages.empty();
}

pretok_status read_special_tokens(const pretok_load_options &options,
                                  std::vector<AddedToken> &tokens, pretok_error *error) {
  if (options.special_token_count != 0 && options.special_tokens == nullptr)
    return missing(error, "options.special_tokens");
  for (std::size_t i = 0; i < options.special_token_count; ++i) {
    const pretok_special_token &special_token = options.special_tokens[i];
    if (special_token.text == nullptr || special_token.size == 0 ||
        !is_utf8({special_token.text, special_token.size}))
      return fail(error, PRETOK_INVALID_ARGUMENT,
                  "options.special_tokens[%zu].text is NULL, empty or not UTF-8; expected "
                  "UTF-8 that is not empty",
                  i);
    AddedToken &token = tokens.emplace_back();
    token.content.assign(special_token.text, special_token.size);
    token.id = special_token.id;
  }
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

std::vector<AddedTokenPhases> make_policies(const Tokenizer &tokenizer,
                                            const std::vector<AddedToken> &tokens) {
  const AddedTokens all = tokenizer.search_for(tokens);
  std::vector<AddedTokenPhases> policies;
  for (const Treatment treatment : {Treatment::RAISE, Treatment::TEXT, Treatment::ALLOW})
    policies.emplace_back(all.treating(treatment));
  policies.emplace_back(tokenizer.search_for({})); // PRETOK_SPECIAL_PLAIN
  std::vector<AddedToken> white;                   // PRETOK_SPECIAL_CONTENT
  for (const AddedToken &token : tokens)
    if (!token.special && AddedTokens::is_white(token.content))
      white.push_back(token);
  policies.emplace_back(tokenizer.search_for(std::move(white)));
  return policies;
}

pretok_status load_tokenizer(TokenizerSpec &&spec, const pretok_load_options &options,
                             std::unique_ptr<pretok_tokenizer> &result, pretok_error *error) {
  if (const pretok_status status = check_options(spec, options, error))
    return status;
  TokenizerOptions made_options;
  if (options.pre_tokenizer != nullptr)
    made_options.split.emplace(options.pre_tokenizer->named);
  else if (options.preset != nullptr) {
    if (const LoadError load_error =
            find_preset_split(options.preset, options.unicode, made_options.split))
      return fail_to_load(load_error, "", error);
  } else if (options.unicode != nullptr) {
    spec.unicode = options.unicode;
  }
  if (options.default_preset != nullptr && !made_options.split && !has_split(spec))
    if (const LoadError load_error =
            find_preset_split(options.default_preset, options.unicode, made_options.split))
      return fail_to_load(load_error, "", error);
  if (const pretok_status status =
          read_special_tokens(options, made_options.special_tokens, error))
    return status;
  if (options.cache_bytes != 0)
    made_options.cache_limit = options.cache_bytes;
  made_options.nfc = options.normalizer != nullptr;
  std::unique_ptr<Tokenizer> dropout_tokenizer;
  if (options.dropout) {
    TokenizerSpec spec_copy = spec;
    TokenizerOptions dropout_options = made_options;
    dropout_options.for_dropout = true;
    if (const LoadError load_error =
            make_tokenizer(std::move(spec_copy), std::move(dropout_options), dropout_tokenizer))
      return fail_to_load(load_error, "", error);
  }
  std::unique_ptr<Tokenizer> tokenizer;
  if (const LoadError load_error =
          make_tokenizer(std::move(spec), std::move(made_options), tokenizer))
    return fail_to_load(load_error, "", error);
  std::vector<AddedTokenPhases> policies = make_policies(*tokenizer, tokenizer->added());
  result.reset(new pretok_tokenizer{std::move(tokenizer), std::move(policies),
                                    std::move(dropout_tokenizer)});
  return PRETOK_OK;
}

} // namespace pretok
