// pretok_encode, pretok_encode_spans and pretok_count.
#include "capi/encode_call.hpp"

#include <cstdlib>

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
  // directly into the array.
  IdBuffer buffer = buffer_in(ids, capacity, call.tokenizer->max_capacity(size));
  if (const pretok_status status = append_all(call, text, size, buffer, error))
    return status;
  return return_ids(buffer, ids, capacity, count, error);
}

pretok_status count_into(const EncodeCall &call, const std::uint8_t *text, std::size_t size,
                         std::size_t *count, pretok_error *error) {
  if (call.dropout_tokenizer != nullptr) {
    IdBuffer ids;
    if (const pretok_status status = append_all(call, text, size, ids, error))
      return status;
    *count = ids.size();
    return PRETOK_OK;
  }
  const CacheLease cache(call.tokenizer->caches());
  std::size_t result = call.template_size();
  const pretok_status status = call.count(text, size, *cache, result, error);
  if (status == PRETOK_OK)
    *count = result;
  return status;
}

// Copies the ids and their spans to the buffers of the caller. The ids of the template have
// empty spans.
pretok_status copy_spans(const EncodeCall &call, std::size_t size, const IdBuffer &ids,
                         const Spans &spans, std::uint32_t *id_buffer, pretok_span *span_buffer,
                         std::size_t capacity, std::size_t *count, pretok_error *error) {
  IdBuffer before;
  call.begin(before);
  IdBuffer after;
  call.end(after);
  const std::size_t total = before.size() + ids.size() + after.size();
  if (const pretok_status status = room_for(total, span_buffer, capacity, count, error))
    return status;
  if (span_buffer == nullptr)
    return PRETOK_OK;
  const auto add = [&](std::uint32_t id, std::size_t start, std::size_t end) {
    *id_buffer++ = id;
    *span_buffer++ = {start, end};
  };
  for (std::size_t i = 0; i < before.size(); ++i)
    add(before.data()[i], 0, 0);
  for (std::size_t i = 0; i < ids.size(); ++i)
    add(ids.data()[i], static_cast<std::size_t>(spans.starts[i]),
        static_cast<std::size_t>(spans.ends[i]));
  for (std::size_t i = 0; i < after.size(); ++i)
    add(after.data()[i], size, size);
  return PRETOK_OK;
}

// Checks the arguments that all functions share. If they are valid, returns work(call, text).
template <typename Work>
pretok_status with_call(const pretok_tokenizer *tokenizer, const char *text, size_t size,
                        const pretok_encode_options *options, std::size_t *count,
                        pretok_error *error, Work work, bool takes_dropout = true) noexcept {
  if (const pretok_status status = check(
          error, {{tokenizer, "the tokenizer"}, {text, "text", size != 0}, {count, "count"}}))
    return status;
  return guarded(error, [&] {
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(text);
    EncodeCall call;
    if (const pretok_status status = call.read(*tokenizer, options, error, takes_dropout))
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

pretok_status pretok_encode_spans(const pretok_tokenizer *tokenizer, const char *text,
                                  size_t size, const pretok_encode_options *options,
                                  uint32_t *ids, pretok_span *spans, size_t capacity,
                                  size_t *count, pretok_error *error) noexcept {
  if (const pretok_status status =
          check(error, {{ids, "ids", spans != nullptr}, {spans, "spans", ids != nullptr}}))
    return status;
  return with_call(
      tokenizer, text, size, options, count, error,
      [&](const EncodeCall &call, const std::uint8_t *bytes) {
        IdBuffer found;
        Spans found_spans;
        const CacheLease cache(call.tokenizer->caches());
        const Refusal refusal = call.tokenizer->encode_spans(
            bytes, size, *call.policy, *cache, found, found_spans, call.first_part);
        if (const pretok_status status = call.refuse(refusal, 0, error))
          return status;
        return copy_spans(call, size, found, found_spans, ids, spans, capacity, count, error);
      },
      /*takes_dropout=*/false);
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
