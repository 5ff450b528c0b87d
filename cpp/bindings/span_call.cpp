#include "bindings/span_call.hpp"

#include "bindings/convert.hpp"
#include "bindings/fast_function.hpp"
#include "bindings/normal_text.hpp"
#include "bindings/stack_ids.hpp"

#include "core/unicode/code_point_counts.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace pretok {
namespace {

struct SpanCall {
  const Encoder &encoder;
  const Vocabulary &vocabulary;
  IdObjects &objects;
  SpanObjects &spans;
  AddedTokens added;
  bool only_ascii;
  bool only_normal;
  TokenShapes shapes;
  py::object no_span; // of an id of the template
};

// The ids of a text. The ids tell their spans, or the spans are in `spans`.
struct EncodedText {
  StackIds ids;
  bool has_prefix = false; // whether the first token starts with a space before the text
  std::optional<std::vector<Span>> spans;
};

// Encodes a text whose ids tell the spans of their tokens: it has no added tokens, and no
// changes but a prefix. Returns false for any other text.
bool encode_unbroken(const SpanCall &call, const std::uint8_t *data, std::size_t size,
                     PreTokenCache &cache, EncodedText &encoded) {
  const TextSpaces &spaces = call.encoder.spaces();
  if (call.encoder.pre_tokenizer().removes() || call.vocabulary.characters() != nullptr ||
      spaces.changes(data, size))
    return false;
  bool is_unbroken = false;
  call.added.split(data, size, [&](const Segment &segment) {
    is_unbroken = segment.token == nullptr && segment.start == 0 && segment.end == size;
  });
  if (!is_unbroken)
    return false;
  call.encoder.encode(data, size, call.added, cache, encoded.ids.buffer);
  encoded.has_prefix = spaces.prefix != TextSpaces::Prefix::NONE &&
                       (spaces.precedes_tokens || spaces.has_prefix(data, size, true));
  return true;
}

// Encodes any text. Returns false if `call.added` refuses a special token, or if the number of
// spaces of a token is unknown.
bool encode_segments(const SpanCall &call, const std::uint8_t *data, std::size_t size,
                     bool is_ascii, PreTokenCache &cache, EncodedText &encoded) {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  IdBuffer &ids = encoded.ids.buffer;
  ids.clear();
  const Refusal refusal =
      call.encoder.encode_spans(data, size, call.added, cache, ids, starts, ends);
  if (refusal.token != nullptr)
    return false;
  std::optional<CodePointCounts> counts;
  if (!is_ascii)
    counts.emplace(data, size);
  const auto count_before = [&](std::size_t at) {
    return counts ? static_cast<std::uint32_t>(counts->before(at))
                  : static_cast<std::uint32_t>(at);
  };
  std::vector<Span> &spans = encoded.spans.emplace(starts.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto start = static_cast<std::size_t>(starts[i]);
    auto end = static_cast<std::size_t>(ends[i]);
    // The span of a token that is only the prefix space is empty. Extend it by one byte, so
    // that it gets the first code point of the text.
    if (start == end && end < size)
      ++end;
    // A span that contains only some bytes of a code point gets the whole code point.
    const bool is_inside = start < size && is_tail(data[start]);
    spans[i] = {count_before(start) - (is_inside ? 1U : 0U), count_before(end)};
  }
  return call.shapes.trim(ids.data(), ids.size(), spans.data());
}

enum class Way { UNBROKEN_IF_POSSIBLE, IN_SEGMENTS };

// Encodes `text`. Returns false if the Python call must return None. Does not need the GIL.
bool encode(const SpanCall &call, const TextView &text, Way way, EncodedText &encoded) {
  if (call.only_normal && !is_normal(text))
    return false;
  const CacheLease cache(call.encoder.caches());
  Scratch scratch;
  return text.with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
    return (way != Way::IN_SEGMENTS && encode_unbroken(call, data, size, *cache, encoded)) ||
           encode_segments(call, data, size, text.is_ascii(), *cache, encoded);
  });
}

// Adds the ids and their spans to lists. Returns false if the ids do not tell the spans. `size`
// is the number of code points of the text.
bool add_to(NewList &id_list, NewList &span_list, const SpanCall &call, std::size_t size,
            const EncodedText &encoded) {
  constexpr std::size_t BLOCK = 128;
  std::array<Span, BLOCK> spans; // not initialized
  TokenShapes::Progress progress{size, encoded.has_prefix};
  const IdBuffer &ids = encoded.ids.buffer;
  call.objects.add_to(id_list, ids.data(), ids.size());
  for (std::size_t start = 0; start < ids.size(); start += BLOCK) {
    const std::size_t count = std::min(BLOCK, ids.size() - start);
    if (encoded.spans)
      std::copy_n(encoded.spans->data() + start, count, spans.data());
    else if (!call.shapes.find(ids.data() + start, count, progress, spans.data()))
      return false;
    call.spans.add_to(span_list, call.objects, spans.data(), count);
  }
  return encoded.spans || progress.found == size;
}

// encode_with_spans (span_call.hpp) describes the arguments and the result.
std::optional<IdsAndSpans> encode_text(const SpanCall &call, const TextView &text,
                                       PyObject *before, PyObject *after) {
  if ((call.only_ascii && !text.is_ascii()) ||
      text.size() > std::numeric_limits<std::uint32_t>::max())
    return std::nullopt;
  const auto size_of = [](PyObject *list) {
    return list == nullptr ? std::size_t{0} : static_cast<std::size_t>(PyList_GET_SIZE(list));
  };
  for (const Way way : {Way::UNBROKEN_IF_POSSIBLE, Way::IN_SEGMENTS}) {
    EncodedText encoded;
    bool is_encoded = false;
    unlocked(text.size(), [&] { is_encoded = encode(call, text, way, encoded); });
    if (!is_encoded)
      return std::nullopt;
    const std::size_t count = size_of(before) + encoded.ids.buffer.size() + size_of(after);
    NewList ids(count);
    NewList spans(count);
    ids.add_all(before, size_of(before));
    spans.add_copies(call.no_span.ptr(), size_of(before));
    if (!add_to(ids, spans, call, text.size(), encoded))
      continue;
    ids.add_all(after, size_of(after));
    spans.add_copies(call.no_span.ptr(), size_of(after));
    return IdsAndSpans{ids.take(), spans.take()};
  }
  return std::nullopt;
}

PyObject *call_with_spans(SpanCall &call, const Arguments &args) {
  if (args.count != 1)
    throw py::type_error("expected one argument, a text");
  if (!PyUnicode_CheckExact(args[0]) || TextView(args[0]).has_surrogate())
    return nullptr;
  std::optional<IdsAndSpans> result = encode_text(call, TextView(args[0]), nullptr, nullptr);
  if (!result)
    return nullptr;
  return py::make_tuple(std::move(result->ids), std::move(result->spans)).release().ptr();
}

} // namespace

py::object make_span_call(const py::object &owner, const Encoder &encoder,
                          const Vocabulary &vocabulary, std::size_t limit, IdObjects &objects,
                          SpanObjects &spans, const AddedTokens &added,
                          const SpanOptions &options) {
  auto call = std::make_unique<SpanCall>(SpanCall{
      encoder, vocabulary, objects, spans, added, options.only_ascii, options.only_normal,
      TokenShapes(vocabulary, limit, options.spaces), py::make_tuple(0, 0)});
  return FastFunctions<SpanCall>(std::move(call), owner)
      .make<call_with_spans>("encode_with_spans");
}

std::optional<IdsAndSpans> encode_with_spans(PyObject *function, PyObject *text,
                                             PyObject *before, PyObject *after) {
  const SpanCall *const call = FastFunctions<SpanCall>::state_of<call_with_spans>(function);
  if (call == nullptr)
    return std::nullopt;
  return encode_text(*call, TextView(text), before, after);
}

} // namespace pretok
