// Functions of tokenizers that the C interface lacks.
#include "capi/encode_call.hpp"
#include "capi/handles.hpp"
#include "core/unicode/unicode.hpp"
#include "wasm/results.hpp"
#include "wasm/source.hpp"

namespace pretok {
namespace {

// Converts `places`, the starts or the ends of spans, from byte offsets to offsets in `unit`. A
// start within a character becomes the start of the character, and an end its end. `places`
// must ascend.
void convert_spans(const Utf8 &source, std::vector<std::int64_t> &places, OffsetUnit unit,
                   bool are_ends) {
  if (unit == OffsetUnit::BYTE)
    return;
  std::size_t at = 0;
  std::int64_t offset = 0;
  for (std::int64_t &place : places) {
    const auto byte = static_cast<std::size_t>(place);
    while (at < source.size()) {
      const Decoded decoded = source.decode(at);
      if (are_ends ? at >= byte : at + decoded.width > byte)
        break;
      offset += width_in(unit, decoded.code_point);
      at += decoded.width;
    }
    place = offset;
  }
}

std::vector<std::uint32_t> as_offsets(const std::vector<std::int64_t> &places) {
  return {places.begin(), places.end()};
}

} // namespace
} // namespace pretok

using namespace pretok;

// Results 0 to 2: the ids of a text, and the starts and ends of their spans in `unit`.
PRETOK_WASM(pretok_wasm_encode_spans)
pretok_status pretok_wasm_encode_spans(const pretok_tokenizer *tokenizer,
                                       const std::uint8_t *text, std::size_t size,
                                       const pretok_encode_options *options, int unit,
                                       pretok_error *error) {
  EncodeCall call;
  if (const pretok_status status = call.read(*tokenizer, options, error))
    return status;
  if (const pretok_status status = call.check_bytes(text, size, 0, error))
    return status;
  if (!tokenizer->core->is_normalized(text, size))
    return fail(error, PRETOK_UNSUPPORTED,
                "the tokenizer normalizes this text%s, and has no offsets in the original "
                "text; call encode()",
                tokenizer->core->normalizer() == Normalizer::NFC ? " to NFC" : "");
  IdBuffer ids;
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  const CacheLease cache(tokenizer->core->caches());
  const Refusal refusal = tokenizer->core->encoder().encode_spans(text, size, call.policy->all,
                                                                  *cache, ids, starts, ends);
  if (const pretok_status status = call.refuse(refusal, 0, error))
    return status;
  const Utf8 source(text, size, tokenizer->core->encoder().pre_tokenizer().classes());
  convert_spans(source, starts, unit_of(unit), false);
  convert_spans(source, ends, unit_of(unit), true);
  results[0].assign(ids.data(), ids.data() + ids.size());
  results[1] = as_offsets(starts);
  results[2] = as_offsets(ends);
  return PRETOK_OK;
}

// Returns the Unicode version of the pre-tokenizer as a C string. Returns "" if the model does
// not split text.
PRETOK_WASM(pretok_wasm_tokenizer_unicode)
const char *pretok_wasm_tokenizer_unicode(const pretok_tokenizer *tokenizer) {
  const std::string_view version = unicode_version(tokenizer->core->split().table);
  return version.empty() ? "" : version.data();
}

// Returns the text of special token `index`, and sets *size and *id. Returns nullptr if `index`
// is not less than the number of special tokens.
PRETOK_WASM(pretok_wasm_special_token)
const char *pretok_wasm_special_token(const pretok_tokenizer *tokenizer, std::size_t index,
                                      std::size_t *size, std::uint32_t *id) {
  for (const AddedToken &token : tokenizer->core->added())
    if (token.special && index-- == 0) {
      *size = token.content.size();
      *id = token.id;
      return token.content.data();
    }
  return nullptr;
}
