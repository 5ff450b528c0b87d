#include "bindings/span_call.hpp"

#include "bindings/convert.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/guarded.hpp"
#include "bindings/normal_text.hpp"

#include "core/unicode/code_point_counts.hpp"
#include "core/unicode/utf8.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
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
};

// The ids of a text, and their spans.
class EncodedSpans {
public:
  IdBuffer &ids() { return ids_; }
  const Span *spans() const { return spans_; }

  // Returns memory for the span of each id so far.
  Span *room() {
    spans_ = stack_spans_.data();
    if (ids_.size() > stack_spans_.size()) {
      heap_spans_.reset(new Span[ids_.size()]); // not initialized
      spans_ = heap_spans_.get();
    }
    return spans_;
  }

private:
  static constexpr std::size_t ON_STACK = 256; // for so many ids, no heap memory is needed

  std::array<std::uint32_t, ON_STACK> stack_ids_; // not initialized
  std::array<Span, ON_STACK> stack_spans_;        // not initialized
  IdBuffer ids_{stack_ids_.data(), ON_STACK};
  std::unique_ptr<Span[]> heap_spans_;
  Span *spans_ = nullptr;
};

// Encodes a text whose ids tell the spans of their tokens: it has no added tokens, and no
// changes but a prefix. Returns false for any other text.
bool encode_unbroken(const SpanCall &call, const std::uint8_t *data, std::size_t size,
                     std::size_t code_points, PreTokenCache &cache, EncodedSpans &encoded) {
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
  IdBuffer &ids = encoded.ids();
  call.encoder.encode(data, size, call.added, cache, ids);
  const bool has_prefix = spaces.prefix != TextSpaces::Prefix::NONE &&
                          (spaces.precedes_tokens || spaces.has_prefix(data, size, true));
  return call.shapes.find(ids.data(), ids.size(), code_points, has_prefix, encoded.room());
}

// Encodes any text. Returns false if `call.added` refuses a special token, or if the number of
// spaces of a token is unknown.
bool encode_segments(const SpanCall &call, const std::uint8_t *data, std::size_t size,
                     bool is_ascii, PreTokenCache &cache, EncodedSpans &encoded) {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  encoded.ids().clear();
  const Refusal refusal =
      call.encoder.encode_spans(data, size, call.added, cache, encoded.ids(), starts, ends);
  if (refusal.token != nullptr)
    return false;
  std::optional<CodePointCounts> counts;
  if (!is_ascii)
    counts.emplace(data, size);
  const auto count_before = [&](std::size_t at) {
    return counts ? static_cast<std::uint32_t>(counts->before(at))
                  : static_cast<std::uint32_t>(at);
  };
  Span *const spans = encoded.room();
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
  return call.shapes.trim(encoded.ids().data(), encoded.ids().size(), spans);
}

// Encodes `text`. Returns false if the Python call must return None. Does not need the GIL.
bool encode(const SpanCall &call, const TextView &text, EncodedSpans &encoded) {
  if (call.only_normal && !is_normal(text))
    return false;
  const CacheLease cache(call.encoder.caches());
  Scratch scratch;
  return text.with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
    return encode_unbroken(call, data, size, text.size(), *cache, encoded) ||
           encode_segments(call, data, size, text.is_ascii(), *cache, encoded);
  });
}

PyObject *encode_text(const SpanCall &call, PyObject *object) {
  if (!PyUnicode_CheckExact(object))
    Py_RETURN_NONE;
  const TextView text(object);
  if ((call.only_ascii && !text.is_ascii()) || text.has_surrogate() ||
      text.size() > std::numeric_limits<std::uint32_t>::max())
    Py_RETURN_NONE;
  EncodedSpans encoded;
  bool is_encoded = false;
  unlocked(text.size(), [&] { is_encoded = encode(call, text, encoded); });
  if (!is_encoded)
    Py_RETURN_NONE;
  const IdBuffer &ids = encoded.ids();
  py::list id_list = call.objects.as_list(ids.data(), ids.size());
  py::list span_list = call.spans.as_list(call.objects, encoded.spans(), ids.size());
  return py::make_tuple(std::move(id_list), std::move(span_list)).release().ptr();
}

PyObject *encode_with_spans(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  if (count != 1) {
    PyErr_SetString(PyExc_TypeError, "expected one argument, a text");
    return nullptr;
  }
  return guarded([&] {
    const void *call = PyCapsule_GetPointer(PyTuple_GET_ITEM(self, 0), nullptr);
    return encode_text(*static_cast<const SpanCall *>(call), args[0]);
  });
}

} // namespace

py::object make_span_call(const py::object &owner, const Encoder &encoder,
                          const Vocabulary &vocabulary, std::size_t limit, IdObjects &objects,
                          SpanObjects &spans, const AddedTokens &added,
                          const SpanOptions &options) {
  static PyMethodDef method = fast_method<encode_with_spans>("encode_with_spans");
  auto call = std::make_unique<SpanCall>(
      SpanCall{encoder, vocabulary, objects, spans, added, options.only_ascii,
               options.only_normal, TokenShapes(vocabulary, limit, options.spaces)});
  const py::capsule capsule(call.release(), [](void *p) { delete static_cast<SpanCall *>(p); });
  return new_function(method, py::make_tuple(capsule, owner));
}

} // namespace pretok
