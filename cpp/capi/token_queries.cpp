// Queries of tokens: their bytes, types, scores and roles, and all tokens at once.
#include "capi/handles.hpp"
#include "capi/options.hpp"
#include "capi/status.hpp"

#include <algorithm>
#include <string_view>

using namespace pretok;

static_assert(sizeof(TokenType) == sizeof(std::uint8_t));
static_assert(static_cast<int>(TokenType::BYTE) == PRETOK_TYPE_BYTE);
static_assert(static_cast<int>(TokenRole::FIM_SEP) == PRETOK_ROLE_FIM_SEP);
static_assert(PRETOK_NO_ID == NO_ID);

// Checks the arguments of a query of one token. If they are valid, returns answer(core).
template <typename Answer>
static pretok_status query(const pretok_tokenizer *tokenizer, std::uint32_t id,
                           std::initializer_list<Argument> results, pretok_error *error,
                           Answer answer) noexcept {
  return guarded(error, {{tokenizer, "the tokenizer"}}, [&] {
    const Tokenizer &core = *tokenizer->core;
    if (const pretok_status status = check(error, results))
      return status;
    if (core.decoder().token(id).bytes == nullptr)
      return fail(error, PRETOK_UNKNOWN_ID, "no token has id %lu; ids are below %zu",
                  static_cast<unsigned long>(id), core.id_limit());
    answer(core);
    return PRETOK_OK;
  });
}

pretok_status pretok_token_bytes(const pretok_tokenizer *tokenizer, uint32_t id,
                                 const char **bytes, size_t *size,
                                 pretok_error *error) noexcept {
  return query(tokenizer, id, {{bytes, "bytes"}, {size, "size"}}, error,
               [&](const Tokenizer &core) {
                 const TokenView token = core.decoder().token(id);
                 *bytes = reinterpret_cast<const char *>(token.bytes);
                 *size = token.size;
               });
}

double pretok_tokenizer_dropout(const pretok_tokenizer *tokenizer) noexcept {
  return tokenizer != nullptr ? tokenizer->core->file_facts().dropout : 0;
}

bool pretok_is_special(const pretok_tokenizer *tokenizer, uint32_t id) noexcept {
  return tokenizer != nullptr && tokenizer->core->decoder().is_special(id);
}

pretok_status pretok_token_id(const pretok_tokenizer *tokenizer, const char *bytes, size_t size,
                              uint32_t *id, pretok_error *error) noexcept {
  return guarded(error, {{tokenizer, "the tokenizer"}, {bytes, "bytes"}, {id, "id"}}, [&] {
    const std::uint32_t found = tokenizer->core->token_index().find({bytes, size});
    if (found == NO_ID)
      return fail(error, PRETOK_UNKNOWN_NAME,
                  "no token is \"%.*s\"; pretok_encode may split it into several tokens",
                  static_cast<int>(size < 100 ? size : 100), bytes);
    *id = found;
    return PRETOK_OK;
  });
}

pretok_status pretok_rendered_bytes(const pretok_tokenizer *tokenizer, uint32_t id,
                                    const char **bytes, size_t *size,
                                    pretok_error *error) noexcept {
  return query(tokenizer, id, {{bytes, "bytes"}, {size, "size"}}, error,
               [&](const Tokenizer &core) {
                 const std::string_view text = core.decoder().rendered().text(id);
                 *bytes = text.data();
                 *size = text.size();
               });
}

pretok_status pretok_token_type_of(const pretok_tokenizer *tokenizer, uint32_t id,
                                   pretok_token_type *type, pretok_error *error) noexcept {
  return query(tokenizer, id, {{type, "type"}}, error, [&](const Tokenizer &core) {
    *type = static_cast<pretok_token_type>(core.facts().types[id]);
  });
}

pretok_status pretok_token_score(const pretok_tokenizer *tokenizer, uint32_t id, float *score,
                                 pretok_error *error) noexcept {
  return query(tokenizer, id, {{score, "score"}}, error,
               [&](const Tokenizer &core) { *score = core.scores()[id]; });
}

pretok_model_kind pretok_tokenizer_kind(const pretok_tokenizer *tokenizer) noexcept {
  if (tokenizer == nullptr || !tokenizer->core->is_text())
    return PRETOK_KIND_BYTES;
  return tokenizer->core->decoder().is_sentencepiece() ? PRETOK_KIND_SENTENCEPIECE
                                                       : PRETOK_KIND_TEXT;
}

pretok_status pretok_token_facts_of(const pretok_tokenizer *tokenizer,
                                    pretok_token_facts *result, pretok_error *error) noexcept {
  return guarded(error, {{tokenizer, "the tokenizer"}, {result, "result"}}, [&] {
    const Tokenizer &core = *tokenizer->core;
    const TokenFacts &facts = core.facts();
    pretok_token_facts own{};
    own.struct_size = result->struct_size;
    std::copy(facts.roles.ids.begin(), facts.roles.ids.end(), own.roles);
    const auto has = [&](const std::vector<std::uint32_t> &ids, TokenRole role) {
      return facts.roles[role] != NO_ID &&
             std::find(ids.begin(), ids.end(), facts.roles[role]) != ids.end();
    };
    own.add_bos = has(core.ids_around().before, TokenRole::BOS);
    own.add_eos = has(core.ids_around().after, TokenRole::EOS);
    own.end_ids = facts.ends.data();
    own.end_id_count = facts.ends.size();
    const std::string &chat_template = core.file_facts().chat_template;
    own.chat_template = chat_template.empty() ? nullptr : chat_template.c_str();
    own.chat_template_size = chat_template.size();
    own.max_token_bytes = core.decoder().rendered().longest();
    return write_result(own, *result, error);
  });
}

pretok_status pretok_vocabulary_of(const pretok_tokenizer *tokenizer, pretok_vocabulary *result,
                                   pretok_error *error) noexcept {
  return guarded(error, {{tokenizer, "the tokenizer"}, {result, "result"}}, [&] {
    const Tokenizer &core = *tokenizer->core;
    const TokenTexts::View texts = core.decoder().rendered().view();
    pretok_vocabulary own{};
    own.struct_size = result->struct_size;
    own.count = core.id_limit();
    own.bytes = reinterpret_cast<const char *>(texts.bytes);
    own.offsets = texts.starts;
    own.types = core.facts().types.data();
    own.sorted = core.sorted_ids().data();
    own.sorted_count = core.sorted_ids().size();
    return write_result(own, *result, error);
  });
}
