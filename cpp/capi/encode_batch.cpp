// pretok_encode_batch: many texts on several threads.
#include "capi/encode_call.hpp"
#include "core/threads/encode_texts.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <vector>

namespace pretok {
namespace {

// A text of the caller: a View of TextTasks.
struct CallerText {
  const std::uint8_t *data;
  std::size_t bytes;

  std::size_t size() const { return bytes; }
  std::size_t utf8_size() const { return bytes; }
  std::size_t units_in(std::size_t count) const { return count; }
  CallerText part(std::size_t start, std::size_t end) const {
    return {data + start, end - start};
  }
  std::size_t whole(std::size_t at) const {
    while (at > 0 && at < bytes && is_tail(data[at]))
      --at;
    return at;
  }
  template <typename Use> auto with_utf8(Scratch &, Use use) const { return use(data, bytes); }
};

// The arguments of a batch.
struct Batch {
  const pretok_tokenizer *tokenizer;
  const char *const *texts;
  const std::size_t *sizes;
  std::size_t count;
  const pretok_encode_options *options;
  unsigned threads;
};

// Names text `index` in the message of `error`, and sets *failed_text. Returns `status`.
pretok_status fail_text(std::size_t index, pretok_status status, std::size_t *failed_text,
                        pretok_error *error) {
  if (failed_text != nullptr)
    *failed_text = index;
  if (error == nullptr)
    return status;
  const pretok_error inner = *error;
  return fail_at(error, status, inner.position, "texts[%zu]: %s", index, inner.message);
}

// Puts the ids of the template around the ids of each text.
void add_template(const EncodeCall &call, EncodeResult &result) {
  if (call.template_size() == 0)
    return;
  IdBuffer all;
  all.reserve(result.ids.size() + result.text_ends.size() * call.template_size());
  std::size_t start = 0;
  for (std::int64_t &text_end : result.text_ends) {
    const auto end = static_cast<std::size_t>(text_end);
    call.begin(all);
    all.append(result.ids.data() + start, end - start);
    call.end(all);
    text_end = static_cast<std::int64_t>(all.size());
    start = end;
  }
  result.ids = std::move(all);
}

// Encodes the texts into `result`, whose buffer may be memory of the caller.
pretok_status encode(const Batch &batch, const EncodeCall &call, EncodeResult &result,
                     std::size_t *ends, std::size_t *failed_text, pretok_error *error) {
  std::vector<CallerText> texts;
  texts.reserve(batch.count);
  for (std::size_t i = 0; i < batch.count; ++i) {
    const auto *data = reinterpret_cast<const std::uint8_t *>(batch.texts[i]);
    if (data == nullptr && batch.sizes[i] != 0)
      return fail(error, PRETOK_INVALID_ARGUMENT, "texts[%zu] is NULL; expected a pointer", i);
    if (const pretok_status status = call.check_bytes(data, batch.sizes[i], 0, error))
      return fail_text(i, status, failed_text, error);
    texts.push_back({data, batch.sizes[i]});
  }
  const bool has_dropout = call.dropout_tokenizer != nullptr;
  encode_texts(
      has_dropout ? *call.dropout_tokenizer : *call.tokenizer, OutputKind::IDS, texts,
      *call.policy, batch.threads, result,
      [](const EncodeResult &so_far) { return so_far.refusal.token == nullptr; }, [] {},
      call.first_part, has_dropout ? &call.dropout : nullptr);
  if (const pretok_status status = call.refuse(result.refusal, 0, error))
    return fail_text(result.refused_text, status, failed_text, error);
  add_template(call, result);
  std::copy(result.text_ends.begin(), result.text_ends.end(), ends);
  return PRETOK_OK;
}

// Returns the sum of the capacities that the texts may need; at most MAX_ELEMENTS.
std::size_t bound_of(const Batch &batch) {
  std::size_t bound = 0;
  for (std::size_t i = 0; i < batch.count; ++i)
    bound = saturating_add(bound, batch.tokenizer->core->max_capacity(batch.sizes[i]));
  return std::min(bound, MAX_ELEMENTS<std::uint32_t>);
}

// Checks the arguments. If they are valid, returns work(call).
template <typename Work>
pretok_status with_call(const Batch &batch, const std::size_t *ends, pretok_error *error,
                        Work work) noexcept {
  if (const pretok_status status = check(error, {{batch.tokenizer, "the tokenizer"},
                                                 {batch.texts, "texts", batch.count != 0},
                                                 {batch.sizes, "sizes", batch.count != 0},
                                                 {ends, "ends", batch.count != 0}}))
    return status;
  return guarded(error, [&] {
    EncodeCall call;
    if (const pretok_status status = call.read(*batch.tokenizer, batch.options, error, true))
      return status;
    return work(call);
  });
}

} // namespace
} // namespace pretok

using namespace pretok;

pretok_status pretok_encode_batch(const pretok_tokenizer *tokenizer, const char *const *texts,
                                  const size_t *sizes, size_t text_count,
                                  const pretok_encode_options *options, uint32_t threads,
                                  uint32_t *ids, size_t capacity, size_t *ends,
                                  size_t *failed_text, pretok_error *error) noexcept {
  const Batch batch{tokenizer, texts, sizes, text_count, options, threads};
  return with_call(batch, ends, error, [&](const EncodeCall &call) {
    EncodeResult result;
    result.ids = buffer_in(ids, capacity, bound_of(batch));
    if (const pretok_status status = encode(batch, call, result, ends, failed_text, error))
      return status;
    std::size_t count = 0;
    return return_ids(result.ids, ids, capacity, &count, error);
  });
}

pretok_status pretok_encode_batch_new(const pretok_tokenizer *tokenizer,
                                      const char *const *texts, const size_t *sizes,
                                      size_t text_count, const pretok_encode_options *options,
                                      uint32_t threads, uint32_t **ids, size_t *ends,
                                      size_t *failed_text, pretok_error *error) noexcept {
  if (const pretok_status status = check(error, {{ids, "ids"}}))
    return status;
  const Batch batch{tokenizer, texts, sizes, text_count, options, threads};
  return with_call(batch, ends, error, [&](const EncodeCall &call) {
    EncodeResult result;
    if (const pretok_status status = encode(batch, call, result, ends, failed_text, error))
      return status;
    result.ids.fit();
    *ids = result.ids.release();
    return PRETOK_OK;
  });
}
