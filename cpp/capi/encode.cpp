// pretok_encode and pretok_count.
#include "capi/encode_call.hpp"

#include <cstdlib>
#include <cstring>

namespace pretok {
namespace {

// Appends the ids of a text. If the options ask for the template, also appends the ids that the
// template puts before and after the text.
pretok_status append_all(const EncodeCall &call, const std::uint8_t *text, std::size_t size,
                         IdBuffer &ids, pretok_error *error) {
  const CacheLease cache(call.tokenizer->caches());
  call.begin(ids);
  if (const pretok_status status = call.encode(text, size, 0, *cache, ids, error))
    return status;
  call.end(ids);
  return PRETOK_OK;
}

pretok_status encode_into(const EncodeCall &call, const std::uint8_t *text, std::size_t size,
                          std::uint32_t *ids, std::size_t capacity, std::size_t *count,
                          pretok_error *error) {
  // If the caller's array has room for the ids of every possible text of this size, encode
  // directly into the array. No array has room for MAX_ELEMENTS ids.
  IdBuffer buffer;
  const std::size_t bound = call.tokenizer->max_capacity(size);
  if (capacity >= bound && bound < MAX_ELEMENTS<std::uint32_t>)
    buffer = IdBuffer(ids, capacity);
  if (const pretok_status status = append_all(call, text, size, buffer, error))
    return status;
  if (const pretok_status status = room_for(buffer.size(), ids, capacity, count, error))
    return status;
  if (buffer.data() != ids && buffer.size() != 0)
    std::memcpy(ids, buffer.data(), buffer.size() * sizeof *ids);
  return PRETOK_OK;
}

pretok_status count_into(const EncodeCall &call, const std::uint8_t *text, std::size_t size,
                         std::size_t *count, pretok_error *error) {
  const CacheLease cache(call.tokenizer->caches());
  std::size_t result = call.template_size();
  const pretok_status status = call.count(text, size, *cache, result, error);
  if (status == PRETOK_OK)
    *count = result;
  return status;
}

// Checks the arguments that pretok_encode and pretok_encode_new share. If they are valid,
// returns work(call, text).
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
                     IdBuffer buffer;
                     if (const pretok_status status =
                             append_all(call, bytes, size, buffer, error))
                       return status;
                     *count = buffer.size();
                     buffer.fit();
                     *ids = buffer.release();
                     return PRETOK_OK;
                   });
}

void pretok_ids_free(uint32_t *ids) noexcept { std::free(ids); }

size_t pretok_encode_bound(const pretok_tokenizer *tokenizer, size_t size) noexcept {
  return tokenizer != nullptr ? tokenizer->core->max_capacity(size) : 0;
}

pretok_status pretok_count(const pretok_tokenizer *tokenizer, const char *text, size_t size,
                           const pretok_encode_options *options, size_t *count,
                           pretok_error *error) noexcept {
  return pretok_encode(tokenizer, text, size, options, nullptr, 0, count, error);
}
