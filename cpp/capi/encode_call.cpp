#include "capi/encode_call.hpp"

#include "capi/normal_origin.hpp"
#include "capi/options.hpp"

#include "core/unicode/nfc.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>

namespace pretok {

pretok_status EncodeCall::read(const pretok_tokenizer &of, const pretok_encode_options *options,
                               pretok_error *error) {
  pretok_encode_options own{};
  if (const pretok_status status = read_options(options, own, error))
    return status;
  int special; // a caller may have put any number there
  static_assert(sizeof special == sizeof own.special, "enumerations are as int");
  std::memcpy(&special, &own.special, sizeof special);
  if (special < PRETOK_SPECIAL_RAISE || special > PRETOK_SPECIAL_ALLOW)
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "options.special is %d; expected a value of pretok_special", special);
  if (own.allowed != nullptr && own.allowed->tokenizer != &of)
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "options.allowed was made from another tokenizer; make a set from this one");
  tokenizer = &of;
  policy = own.allowed != nullptr ? &own.allowed->policy
                                  : &of.policies[static_cast<std::size_t>(special)];
  add_special_tokens = own.add_special_tokens;
  return PRETOK_OK;
}

pretok_status EncodeCall::check_bytes(const std::uint8_t *text, std::size_t size,
                                      std::size_t position, pretok_error *error) const {
  if (!tokenizer->lacks_bytes || is_ascii(text, size))
    return PRETOK_OK;
  for (std::size_t at = 0; at < size; ++at)
    if (tokenizer->no_token[text[at]])
      return fail_at(error, PRETOK_NO_TOKEN, position + at,
                     "the text has byte 0x%02x at offset %zu, and no token of this vocabulary "
                     "has it: it is not in UTF-8, or begins no character; remove it",
                     text[at], position + at);
  return PRETOK_OK;
}

template <typename Token, typename Text>
Refusal EncodeCall::in_parts(const std::uint8_t *data, std::size_t size, Token token,
                             Text text) const {
  std::vector<std::uint8_t> normal;
  Refusal first;
  const Refusal later = policy->exact.split(data, size, [&](const Segment &segment) {
    if (first.token != nullptr)
      return;
    if (segment.token != nullptr)
      return token(*segment.token);
    const std::uint8_t *const given = data + segment.start;
    const std::size_t given_size = segment.end - segment.start;
    normal.clear();
    to_nfc(given, given_size, normal);
    first = text(normal.data(), normal.size());
    if (first.token != nullptr)
      first.position = segment.start + normal_origin(given, given_size, first.position).at;
  });
  return first.token != nullptr ? first : later;
}

pretok_status EncodeCall::encode(const std::uint8_t *text, std::size_t size,
                                 std::size_t position, PreTokenCache &cache, IdBuffer &ids,
                                 pretok_error *error) const {
  const Encoder &encoder = *tokenizer->encoder;
  if (!tokenizer->nfc || is_nfc(text, size))
    return refuse(encoder.encode(text, size, policy->all, cache, ids), position, error);
  const auto token = [&ids](const AddedToken &added) {
    *ids.room(1) = added.id;
    ids.add(1);
  };
  const auto between = [&](const std::uint8_t *normal, std::size_t normal_size) {
    return encoder.encode(normal, normal_size, policy->normalized, cache, ids);
  };
  return refuse(in_parts(text, size, token, between), position, error);
}

pretok_status EncodeCall::count(const std::uint8_t *text, std::size_t size,
                                PreTokenCache &cache, std::size_t &result,
                                pretok_error *error) const {
  const Encoder &encoder = *tokenizer->encoder;
  if (!tokenizer->nfc || is_nfc(text, size))
    return refuse(encoder.count(text, size, policy->all, cache, result), 0, error);
  const auto token = [&result](const AddedToken &) { ++result; };
  const auto between = [&](const std::uint8_t *normal, std::size_t normal_size) {
    return encoder.count(normal, normal_size, policy->normalized, cache, result);
  };
  return refuse(in_parts(text, size, token, between), 0, error);
}

pretok_status EncodeCall::refuse(const Refusal &refusal, std::size_t position,
                                 pretok_error *error) const {
  if (refusal.token == nullptr)
    return PRETOK_OK;
  return fail_at(
      error, PRETOK_SPECIAL_TOKEN, position + refusal.position,
      "the text has the special token \"%.40s\" at offset %zu; encode it as text with "
      "PRETOK_SPECIAL_TEXT, or allow special tokens with PRETOK_SPECIAL_ALLOW or a "
      "pretok_special_set",
      refusal.token->content.c_str(), position + refusal.position);
}

} // namespace pretok
