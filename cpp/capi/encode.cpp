// Encoding and counting.
#include "capi/encode_call.hpp"

#include <cstdlib>
#include <cstring>
#include <limits>

namespace pretok {
namespace {

std::size_t bound_of(const pretok_tokenizer &tokenizer, std::size_t size) {
  // Each id has a byte. NFC has at most three times those of a text; a space that is put before
  // each text between added tokens is one more, and no more texts than bytes are there.
  const std::size_t factor = (tokenizer.nfc ? std::size_t{3} : std::size_t{1}) +
                             (tokenizer.encoder->add_prefix_space() ? 1 : 0);
  const std::size_t rest =
      tokenizer.before.size() + tokenizer.after.size() + factor + ID_PADDING;
  constexpr std::size_t MAX_SIZE = std::numeric_limits<std::size_t>::max();
  return size > (MAX_SIZE - rest) / factor ? MAX_SIZE : size * factor + rest;
}

// Appends all ids of a text, also those that the template adds.
pretok_status append_all(const EncodeCall &call, const std::uint8_t *text, std::size_t size,
                         IdBuffer &ids, pretok_error *error) {
  const CacheLease cache(call.tokenizer->encoder->caches());
  if (call.add_special_tokens)
    append_ids(ids, call.tokenizer->before);
  if (const pretok_status status = call.encode(text, size, 0, *cache, ids, error))
    return status;
  if (call.add_special_tokens)
    append_ids(ids, call.tokenizer->after);
  return PRETOK_OK;
}

pretok_status encode_into(const EncodeCall &call, const std::uint8_t *text, std::size_t size,
                          std::uint32_t *ids, std::size_t capacity, std::size_t *count,
                          pretok_error *error) {
  // With room for all that there may be, ids go straight where the caller wants them.
  IdBuffer made;
  if (capacity >= bound_of(*call.tokenizer, size))
    made = IdBuffer(ids, capacity);
  if (const pretok_status status = append_all(call, text, size, made, error))
    return status;
  if (const pretok_status status = room_for(made.size(), ids, capacity, count, error))
    return status;
  if (made.data() != ids && made.size() != 0)
    std::memcpy(ids, made.data(), made.size() * sizeof *ids);
  return PRETOK_OK;
}

pretok_status count_into(const EncodeCall &call, const std::uint8_t *text, std::size_t size,
                         std::size_t *count, pretok_error *error) {
  const CacheLease cache(call.tokenizer->encoder->caches());
  std::size_t found = call.added_count();
  const pretok_status status = call.count(text, size, *cache, found, error);
  if (status == PRETOK_OK)
    *count = found;
  return status;
}

// Checks the arguments that all functions here have, and returns what work(call, text) does.
template <typename Work>
pretok_status with_call(const pretok_tokenizer *tokenizer, const char *text, size_t size,
                        const pretok_encode_options *options, std::size_t *count,
                        pretok_error *error, Work work) noexcept {
  if (const pretok_status status = check(
          error, {{tokenizer, "the tokenizer"}, {text, "text", size != 0}, {count, "count"}}))
    return status;
  return guarded(error, [&] {
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(text);
    EncodeCall call;
    if (const pretok_status status = call.read(*tokenizer, options, error))
      return status;
    if (const pretok_status status = call.check_bytes(bytes, size, 0, error))
      return status;
    return work(call, bytes);
  });
}

} // namespace
} // namespace pretok

using namespace pretok;

pretok_status pretok_encode(const pretok_tokenizer *tokenizer, const char *text, size_t size,
                            const pretok_encode_options *options, uint32_t *ids,
                            size_t capacity, size_t *count, pretok_error *error) noexcept {
  return with_call(tokenizer, text, size, options, count, error,
                   [&](const EncodeCall &call, const std::uint8_t *bytes) {
                     return ids == nullptr
                                ? count_into(call, bytes, size, count, error)
                                : encode_into(call, bytes, size, ids, capacity, count, error);
                   });
}

pretok_status pretok_encode_new(const pretok_tokenizer *tokenizer, const char *text,
                                size_t size, const pretok_encode_options *options,
                                uint32_t **ids, size_t *count, pretok_error *error) noexcept {
  if (const pretok_status status = check(error, {{ids, "ids"}}))
    return status;
  return with_call(tokenizer, text, size, options, count, error,
                   [&](const EncodeCall &call, const std::uint8_t *bytes) {
                     IdBuffer made;
                     if (const pretok_status status =
                             append_all(call, bytes, size, made, error))
                       return status;
                     *count = made.size();
                     made.fit();
                     *ids = made.release();
                     return PRETOK_OK;
                   });
}

void pretok_ids_free(uint32_t *ids) noexcept { std::free(ids); }

size_t pretok_encode_bound(const pretok_tokenizer *tokenizer, size_t size) noexcept {
  return tokenizer != nullptr ? bound_of(*tokenizer, size) : 0;
}

pretok_status pretok_count(const pretok_tokenizer *tokenizer, const char *text, size_t size,
                           const pretok_encode_options *options, size_t *count,
                           pretok_error *error) noexcept {
  return pretok_encode(tokenizer, text, size, options, nullptr, 0, count, error);
}
