#include "bindings/segment_call.hpp"

#include "bindings/convert.hpp"
#include "bindings/results.hpp"

#include "core/base/ids.hpp"
#include "core/encode/segments.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace pretok {
namespace {

bool is_text(PyObject *object) {
  return PyUnicode_CheckExact(object) || PyBytes_CheckExact(object);
}

// Reads ids from a list of int. Returns false for anything else.
bool read_ids(PyObject *list, std::vector<std::uint32_t> &ids) {
  ids.clear();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject *const item = PyList_GET_ITEM(list, i);
    const long id = PyLong_CheckExact(item) ? PyLong_AsLong(item) : -1;
    if (id < 0 || id >= static_cast<long>(ID_LIMIT)) {
      PyErr_Clear();
      return false;
    }
    ids.push_back(static_cast<std::uint32_t>(id));
  }
  return true;
}

} // namespace

const SegmentReader::Known *SegmentReader::find(PyObject *policy) {
  for (const Known &known : known_)
    if (known.policy == policy)
      return &known;
  if (!PyUnicode_CheckExact(policy))
    return nullptr;
  PyObject *const found = PyDict_GetItemWithError(by_policy_.ptr(), policy);
  if (found == nullptr) {
    if (PyErr_Occurred() != nullptr)
      throw py::error_already_set();
    return nullptr;
  }
  known_.push_back({policy, py::cast<std::string>(py::handle(policy)),
                    py::cast<std::shared_ptr<AddedTokenPhases>>(py::handle(found))});
  return &known_.back();
}

bool SegmentReader::read(const py::list &segments, const py::object &special,
                         FunctionRef<void(const Read &)> visit) {
  Scratch scratch;
  std::vector<std::uint32_t> ids;
  for (const py::handle segment : segments) {
    PyObject *object = segment.ptr();
    PyObject *policy = special.ptr();
    if (PyTuple_CheckExact(object) && PyTuple_GET_SIZE(object) == 2 &&
        is_text(PyTuple_GET_ITEM(object, 0))) {
      policy = PyTuple_GET_ITEM(object, 1);
      object = PyTuple_GET_ITEM(object, 0);
    }
    const Known *const known = find(policy);
    if (known == nullptr)
      return false;
    if (is_text(object))
      TextView(object).with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
        visit({data, size, *known, nullptr, 0});
      });
    else if (PyList_CheckExact(object) && read_ids(object, ids))
      visit({nullptr, 0, *known, ids.data(), ids.size()});
    else
      return false;
  }
  return true;
}

py::object encode_segments(const DeferredTokenizer &tokenizers, const py::list &segments,
                           const py::dict &searches, const py::object &special) {
  SegmentedText text;
  text.reserve(segments.size(), 0);
  SegmentReader reader(searches);
  const bool is_read = reader.read(segments, special, [&](const SegmentReader::Read &segment) {
    const std::shared_ptr<const AddedTokens> tokens(segment.policy.added,
                                                    &segment.policy.added->all);
    text.add(segment.text, segment.size, tokens, segment.ids, segment.id_count);
  });
  if (!is_read)
    return py::none();
  IdBuffer ids;
  Spans spans;
  std::vector<std::int64_t> ends;
  Refusal refusal;
  const DeferredTokenizer::Lease tokenizer = tokenizers.for_text(text.size());
  unlocked(text.size(), [&] {
    const CacheLease cache(tokenizer->caches());
    refusal = text.encode(*tokenizer, *cache, ids, spans);
    ends = text.token_ends(spans);
  });
  if (refusal.token != nullptr)
    return py::none();
  return py::make_tuple(as_array_of_ids(std::move(ids)), as_array(std::move(ends)),
                        as_array(std::move(spans.starts)), as_array(std::move(spans.ends)));
}

} // namespace pretok
