#include "capi/encode_call.hpp"

#include "capi/options.hpp"
#include "core/unicode/utf8.hpp"

#include <cstring>

namespace pretok {

pretok_status EncodeCall::read(const pretok_tokenizer &used_tokenizer,
                               const pretok_encode_options *options, pretok_error *error,
                               bool takes_dropout) {
  pretok_encode_options copy{};
  if (const pretok_status status = read_options(options, copy, error))
    return status;
  int special; // a caller may have stored any number
  static_assert(sizeof special == sizeof copy.special, "an enumeration has the size of int");
  std::memcpy(&special, &copy.special, sizeof special);
  if (special < PRETOK_SPECIAL_RAISE || special > PRETOK_SPECIAL_CONTENT)
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "options.special is %d; expected a value of pretok_special", special);
  if (copy.allowed != nullptr && copy.allowed->tokenizer != &used_tokenizer)
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "options.allowed belongs to another tokenizer; make a set for this tokenizer");
  if (!(copy.dropout >= 0 && copy.dropout <= 1))
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "options.dropout is %g; expected a number from 0 to 1", copy.dropout);
  if (copy.dropout != 0 && !takes_dropout)
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "options.dropout is %g, but this function has no dropout; set it to 0",
                copy.dropout);
  if (copy.dropout != 0 && used_tokenizer.dropout_core == nullptr)
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "options.dropout is %g, but the tokenizer is not prepared for dropout; load it "
                "with options.dropout",
                copy.dropout);
  dropout_tokenizer = copy.dropout != 0 ? used_tokenizer.dropout_core.get() : nullptr;
  dropout = {copy.dropout, copy.seed};
  tokenizer = used_tokenizer.core.get();
  policy = copy.allowed != nullptr
               ? &copy.allowed->policy
               : &used_tokenizer.policies[static_cast<std::size_t>(special)];
  constexpr std::string_view KEYS = "01234";
  policy_key = copy.allowed != nullptr ? std::string_view(copy.allowed->key)
                                       : KEYS.substr(static_cast<std::size_t>(special), 1);
  add_special_tokens = copy.add_special_tokens;
  if (copy.continuation)
    first_part = Encoder::Part::LATER;
  return PRETOK_OK;
}

pretok_status EncodeCall::check_bytes(const std::uint8_t *text, std::size_t size,
                                      std::size_t position, pretok_error *error) const {
  if (!tokenizer->lacks_bytes() || is_ascii(text, size))
    return PRETOK_OK;
  for (std::size_t i = 0; i < size; ++i)
    if (tokenizer->lacks(text[i]))
      return fail_at(error, PRETOK_NO_TOKEN, position + i,
                     "the text has byte 0x%02x at offset %zu, but the vocabulary has no token "
                     "for this byte; no assigned code point has this byte in UTF-8, so remove "
                     "the byte",
                     text[i], position + i);
  return PRETOK_OK;
}

pretok_status EncodeCall::encode(const std::uint8_t *text, std::size_t size,
                                 std::size_t position, PreTokenCache &cache, IdBuffer &ids,
                                 pretok_error *error) const {
  if (dropout_tokenizer != nullptr) {
    Dropout draws(dropout);
    draws.begin(0);
    return refuse(dropout_tokenizer->encode_some(text, size, *policy, draws, ids, first_part),
                  0, error);
  }
  const Encoder::Part which = position == 0 ? first_part : Encoder::Part::LATER;
  return refuse(tokenizer->encode(text, size, *policy, cache, ids, which), position, error);
}

pretok_status EncodeCall::count(const std::uint8_t *text, std::size_t size,
                                PreTokenCache &cache, std::size_t &result,
                                pretok_error *error) const {
  return refuse(tokenizer->count(text, size, *policy, cache, result, first_part), 0, error);
}

pretok_status EncodeCall::refuse(const Refusal &refusal, std::size_t position,
                                 pretok_error *error) const {
  if (refusal.token == nullptr)
    return PRETOK_OK;
  const AddedToken &token = tokenizer->original(*refusal.token);
  return fail_at(
      error, PRETOK_SPECIAL_TOKEN, position + refusal.position,
      "the text has the special token \"%.40s\" at offset %zu; encode it as text with "
      "PRETOK_SPECIAL_TEXT, or allow special tokens with PRETOK_SPECIAL_ALLOW or a "
      "pretok_special_set",
      token.content.c_str(), position + refusal.position);
}

} // namespace pretok
