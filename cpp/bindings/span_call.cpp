#include "bindings/span_call.hpp"

#include "bindings/convert.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/guarded.hpp"
#include "bindings/normal_text.hpp"

#include "core/unicode/code_point_counts.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

namespace pretok {
namespace {

struct SpanCall {
  const Encoder &encoder;
  IdObjects &objects;
  SpanObjects &spans;
  AddedTokens added;
  SpanOptions options;
};

struct EncodedSpans {
  IdBuffer ids;
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
};

// Converts offsets in bytes to offsets in code points. A span that contains only some bytes of
// a code point gets the whole code point.
void count_code_points(const std::uint8_t *data, std::size_t size, EncodedSpans &spans) {
  const CodePointCounts counts(data, size);
  std::size_t end = 0; // of the previous span, in bytes
  std::int64_t end_count = 0;
  for (std::size_t i = 0; i < spans.starts.size(); ++i) {
    const auto start = static_cast<std::size_t>(spans.starts[i]);
    const bool is_inside = start < size && is_tail(data[start]);
    // Nearly every span starts at the end of the previous one.
    spans.starts[i] = (start == end ? end_count : counts.before(start)) - (is_inside ? 1 : 0);
    end = static_cast<std::size_t>(spans.ends[i]);
    spans.ends[i] = end_count = counts.before(end);
  }
}

// Excludes the spaces at both ends of tokens from their spans. Returns false if TokenSpaces
// does not know the number of spaces of a token.
bool trim(const TokenSpaces &spaces, EncodedSpans &spans) {
  const std::uint32_t *const ids = spans.ids.data();
  for (std::size_t i = 0; i < spans.starts.size(); ++i) {
    if (ids[i] >= spaces.counts.size())
      return false;
    const TokenSpaces::Count count = spaces.counts[ids[i]];
    if (count.leading == TokenSpaces::UNKNOWN)
      return false;
    std::int64_t start = spans.starts[i];
    std::int64_t end = spans.ends[i];
    const bool keeps = spaces.keeps_first && count.leading == 1 && (i == 0 || start == 0);
    start = std::min(start + (keeps ? 0 : count.leading), end);
    if (end >= count.trailing)
      end = std::max(end - count.trailing, start);
    spans.starts[i] = start;
    spans.ends[i] = end;
  }
  return true;
}

// Encodes `text` to `spans`. Returns false if the Python call must return None. Does not need
// the GIL.
bool encode(const SpanCall &call, const TextView &text, EncodedSpans &spans) {
  if (call.options.only_normal && !is_normal(text))
    return false;
  const CacheLease cache(call.encoder.caches());
  Scratch scratch;
  return text.with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
    spans.starts.reserve(size / 3);
    spans.ends.reserve(size / 3);
    const Refusal refusal = call.encoder.encode_spans(data, size, call.added, *cache, spans.ids,
                                                      spans.starts, spans.ends);
    if (refusal.token != nullptr)
      return false;
    // The span of a token that is only the prefix space is empty. Extend it by one byte, so
    // that it gets the first code point of the text.
    for (std::size_t i = 0; i < spans.starts.size(); ++i)
      if (spans.starts[i] == spans.ends[i] && spans.ends[i] < static_cast<std::int64_t>(size))
        ++spans.ends[i];
    if (!text.is_ascii())
      count_code_points(data, size, spans);
    return !call.options.spaces || trim(*call.options.spaces, spans);
  });
}

PyObject *encode_text(const SpanCall &call, PyObject *object) {
  if (!PyUnicode_CheckExact(object))
    Py_RETURN_NONE;
  const TextView text(object);
  if ((call.options.only_ascii && !text.is_ascii()) || text.has_surrogate() ||
      text.size() > std::numeric_limits<std::uint32_t>::max())
    Py_RETURN_NONE;
  EncodedSpans spans;
  bool is_encoded = false;
  unlocked(text.size(), [&] { is_encoded = encode(call, text, spans); });
  if (!is_encoded)
    Py_RETURN_NONE;
  py::list ids = call.objects.as_list(spans.ids.data(), spans.ids.size());
  py::list list = call.spans.as_list(call.objects, spans.starts, spans.ends);
  return py::make_tuple(std::move(ids), std::move(list)).release().ptr();
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

py::object make_span_call(const py::object &owner, const Encoder &encoder, IdObjects &objects,
                          SpanObjects &spans, const AddedTokens &added, SpanOptions options) {
  static PyMethodDef method = fast_method<encode_with_spans>("encode_with_spans");
  auto call =
      std::make_unique<SpanCall>(SpanCall{encoder, objects, spans, added, std::move(options)});
  const py::capsule capsule(call.release(), [](void *p) { delete static_cast<SpanCall *>(p); });
  return new_function(method, py::make_tuple(capsule, owner));
}

} // namespace pretok
