// Pre-tokenizers and pretok_spans.
#include "capi/handles.hpp"
#include "capi/status.hpp"
#include "formats/find_split.hpp"

using namespace pretok;

pretok_status pretok_pre_tokenizer_named(const char *name, const char *unicode,
                                         pretok_pre_tokenizer **result,
                                         pretok_error *error) noexcept {
  return guarded(error, {{name, "name"}, {result, "result"}}, [&] {
    std::optional<NamedPreTokenizer> named;
    if (const LoadError load_error = find_preset_split(name, unicode, named))
      return fail_to_load(load_error, "", error);
    *result = new pretok_pre_tokenizer{std::move(*named)};
    return PRETOK_OK;
  });
}

pretok_status pretok_pre_tokenizer_from_program(const uint32_t *words, size_t count,
                                                const char *unicode,
                                                pretok_pre_tokenizer **result,
                                                pretok_error *error) noexcept {
  return guarded(error, {{words, "words"}, {unicode, "unicode"}, {result, "result"}}, [&] {
    std::optional<NamedPreTokenizer> named;
    if (const LoadError load_error = read_split(words, count, unicode, named))
      return fail_to_load(load_error, "", error);
    *result = new pretok_pre_tokenizer{std::move(*named)};
    return PRETOK_OK;
  });
}

void pretok_pre_tokenizer_free(pretok_pre_tokenizer *freed) noexcept { delete freed; }

pretok_status pretok_spans(const pretok_pre_tokenizer *pre_tokenizer, const char *text,
                           size_t size, pretok_span *spans, size_t capacity, size_t *count,
                           pretok_error *error) noexcept {
  if (const pretok_status status = check(
          error,
          {{pre_tokenizer, "the pre-tokenizer"}, {text, "text", size != 0}, {count, "count"}}))
    return status;
  return guarded(error, [&] {
    const PreTokenizer &split_by = pre_tokenizer->named.pre_tokenizer;
    const Utf8 source(reinterpret_cast<const std::uint8_t *>(text), size, split_by.classes());
    if (spans == nullptr) {
      *count = pretok::count(split_by, source);
      return PRETOK_OK;
    }
    // Each pre-token has at least one byte, so `size` spans are always enough. If `capacity` is
    // smaller than `size`, count first.
    if (capacity < size) {
      const std::size_t needed = pretok::count(split_by, source);
      if (const pretok_status status = room_for(needed, spans, capacity, count, error))
        return status;
    }
    pretok_span *to = spans;
    split_by.spans(source, kernels(),
                   [&to](std::size_t start, std::size_t end, int) { *to++ = {start, end}; });
    *count = static_cast<std::size_t>(to - spans);
    return PRETOK_OK;
  });
}
