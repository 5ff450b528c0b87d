#include "bindings/segment_call.hpp"

#include "bindings/convert.hpp"
#include "bindings/results.hpp"

#include "core/base/ids.hpp"
#include "core/encode/segments.hpp"

#include <utility>

namespace pretok {
namespace {

bool is_text(PyObject *object) {
  return PyUnicode_CheckExact(object) || PyBytes_CheckExact(object);
}

// Returns the number of code points and bytes of all texts, which is a lower bound of the size
// of their UTF-8.
std::size_t text_size(const py::list &segments) {
  Py_ssize_t size = 0;
  for (const py::handle segment : segments) {
    PyObject *text = segment.ptr();
    if (PyTuple_CheckExact(text) && PyTuple_GET_SIZE(text) == 2)
      text = PyTuple_GET_ITEM(text, 0);
    if (PyUnicode_CheckExact(text))
      size += PyUnicode_GET_LENGTH(text);
    else if (PyBytes_CheckExact(text))
      size += PyBytes_GET_SIZE(text);
  }
  return static_cast<std::size_t>(size);
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

// The encoded segments, of which `find` computes the places of the tokens.
class TokenPlaces {
public:
  TokenPlaces(py::object owner, DeferredTokenizer::Lease tokenizer, const SegmentReader &reader,
              SegmentedText text)
      : owner_(std::move(owner)), tokenizer_(std::move(tokenizer)), tokens_(reader.tokens()),
        text_(std::move(text)) {}

  // Appends the ids. Returns false if a policy refuses a token.
  bool encode(IdBuffer &ids) {
    Refusal refusal;
    unlocked(text_.size(), [&] {
      const CacheLease cache(tokenizer_->caches());
      refusal = text_.encode(*tokenizer_, *cache, ids);
      ids_.assign(ids.data(), ids.data() + ids.size());
    });
    return refusal.token == nullptr;
  }

  py::tuple find() const {
    Spans spans;
    std::vector<std::int64_t> ends;
    unlocked(text_.size(), [&] {
      spans = text_.spans(*tokenizer_, ids_.data(), ids_.size());
      ends = text_.token_ends(spans);
    });
    return py::make_tuple(as_array(std::move(ends)), as_array(std::move(spans.starts)),
                          as_array(std::move(spans.ends)));
  }

private:
  py::object owner_; // of the tokenizer
  DeferredTokenizer::Lease tokenizer_;
  std::vector<std::shared_ptr<const AddedTokenPhases>> tokens_; // those of text_
  SegmentedText text_;
  std::vector<std::uint32_t> ids_; // not those of the caller, who may change them
};

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
  if (!PyUnicode_CheckExact(special.ptr()) || !by_policy_.contains(special))
    return false;
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

std::vector<std::shared_ptr<const AddedTokenPhases>> SegmentReader::tokens() const {
  std::vector<std::shared_ptr<const AddedTokenPhases>> tokens;
  for (const Known &known : known_)
    tokens.push_back(known.added);
  return tokens;
}

py::object encode_segments(const py::object &owner, const DeferredTokenizer &tokenizers,
                           const py::list &segments, const py::dict &searches,
                           const py::object &special) {
  SegmentedText text;
  text.reserve(segments.size(), text_size(segments));
  SegmentReader reader(searches);
  const bool is_read = reader.read(segments, special, [&](const SegmentReader::Read &segment) {
    text.add(segment.text, segment.size, segment.policy.added->all, segment.ids,
             segment.id_count);
  });
  if (!is_read)
    return py::none();
  const DeferredTokenizer::Lease tokenizer = tokenizers.for_text(text.size());
  auto places = std::make_unique<TokenPlaces>(owner, tokenizer, reader, std::move(text));
  IdBuffer ids;
  if (!places->encode(ids))
    return py::none();
  return py::make_tuple(as_array_of_ids(std::move(ids)), std::move(places));
}

void bind_token_places(py::module_ &module) {
  py::class_<TokenPlaces>(module, "TokenPlaces").def("find", on_self(&TokenPlaces::find));
}

} // namespace pretok
