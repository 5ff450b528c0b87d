#include "bindings/bind.hpp"

#include "bindings/chat_text.hpp"
#include "bindings/fast_function.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace pretok {
namespace {

py::object attribute_named(PyObject *object, const py::object &name) {
  return owned(PyObject_GetAttr(object, name.ptr()));
}

// Returns a TracedText of the arguments: a text, and the origin of all its characters.
PyObject *make_text(TextCalls &calls, const Arguments &args) {
  if (args.count != 2 || !PyUnicode_Check(args[0]))
    return nullptr;
  return traced_text(calls, args[0], args[1]).release().ptr();
}

// Returns a tuple of the arguments, which are all TracedText.
PyObject *traced_texts(TextCalls &calls, const Arguments &args) {
  for (std::size_t i = 0; i < args.count; ++i)
    if (Py_TYPE(args[i]) != calls.type)
      return nullptr;
  py::tuple texts(args.count);
  for (std::size_t i = 0; i < args.count; ++i)
    PyTuple_SET_ITEM(texts.ptr(), i, py::handle(args[i]).inc_ref().ptr());
  return texts.release().ptr();
}

// Returns the argument, a TracedText that neither begins nor ends with white space.
PyObject *trimmed(TextCalls &calls, const Arguments &args) {
  if (args.count != 1 || Py_TYPE(args[0]) != calls.type)
    return nullptr;
  const Py_ssize_t size = PyUnicode_GET_LENGTH(args[0]);
  if (size != 0 && (Py_UNICODE_ISSPACE(PyUnicode_READ_CHAR(args[0], 0)) != 0 ||
                    Py_UNICODE_ISSPACE(PyUnicode_READ_CHAR(args[0], size - 1)) != 0))
    return nullptr;
  return py::handle(args[0]).inc_ref().ptr();
}

// Calls run(text, size, origin) for each run of a TracedText with one origin. Returns false for
// any other object.
template <typename Run>
bool visit_runs(const TextCalls &calls, PyObject *text, const Run &run) {
  if (Py_TYPE(text) != calls.type)
    return false;
  const py::object origin = attribute_named(text, calls.origin);
  if (!origin.is_none()) {
    if (PyUnicode_GET_LENGTH(text) != 0)
      run(text, PyUnicode_GET_LENGTH(text), origin);
    return true;
  }
  const py::object pieces = attribute_named(text, calls.several);
  Py_ssize_t at = 0;
  for (const py::handle piece : pieces) {
    const auto pair = py::cast<py::tuple>(piece);
    const auto size = py::cast<Py_ssize_t>(pair[0]);
    run(owned(PyUnicode_Substring(text, at, at + size)).ptr(), size, pair[1]);
    at += size;
  }
  return true;
}

// Calls run(text, size, origin) for each run of a list of texts and tuples of texts. Returns
// false for any other object.
template <typename Run>
bool visit_all_runs(const TextCalls &calls, const Arguments &args, const Run &run) {
  if (args.count == 0 || !PyList_CheckExact(args[0]))
    return false;
  for (Py_ssize_t at = 0; at < PyList_GET_SIZE(args[0]); ++at) {
    const auto part = py::reinterpret_borrow<py::object>(PyList_GET_ITEM(args[0], at));
    if (visit_runs(calls, part.ptr(), run))
      continue;
    if (!PyTuple_Check(part.ptr()))
      return false;
    for (const py::handle text : py::reinterpret_borrow<py::tuple>(part))
      if (!visit_runs(calls, text.ptr(), run))
        return false;
  }
  return true;
}

py::object joined_texts(const TextCalls &calls, const py::object &texts) {
  return owned(PyUnicode_Join(calls.empty.ptr(), texts.ptr()));
}

// Returns the texts of a list as one TracedText.
PyObject *concat_texts(TextCalls &calls, const Arguments &args) {
  struct Piece {
    Py_ssize_t size;
    py::object origin;
  };
  py::list texts;
  std::vector<Piece> pieces;
  const auto add = [&](PyObject *text, Py_ssize_t size, const py::object &origin) {
    append_to(texts.ptr(), text);
    if (pieces.empty() || pieces.back().origin.ptr() != origin.ptr())
      pieces.push_back({0, origin});
    pieces.back().size += size;
  };
  if (args.count != 1 || !visit_all_runs(calls, args, add))
    return nullptr;
  const bool is_one = pieces.size() == 1;
  py::object text = traced_text(calls, joined_texts(calls, texts).ptr(),
                                is_one ? pieces[0].origin.ptr() : Py_None);
  if (!is_one) {
    py::tuple several(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i)
      several[i] = py::make_tuple(pieces[i].size, pieces[i].origin);
    assign(text, calls.several, several.ptr());
  }
  return text.release().ptr();
}

// The segments of rendered text, and their origins. Adjacent texts of one origin are joined.
class ChatSegments {
public:
  ChatSegments(const TextCalls &calls, PyObject *policy) : calls_(calls), policy_(policy) {}

  void add_run(PyObject *text, const py::object &origin) {
    if (origin.ptr() != origin_.ptr()) {
      finish_run();
      origin_ = origin;
      text_ = py::reinterpret_borrow<py::object>(text);
      texts_ = py::object();
      return;
    }
    if (!texts_) {
      texts_ = owned(PyList_New(0));
      append_to(texts_.ptr(), text_.ptr());
    }
    append_to(texts_.ptr(), text);
  }

  py::tuple finish() {
    finish_run();
    return py::make_tuple(std::move(segments_), std::move(origins_));
  }

private:
  void finish_run() {
    if (!origin_)
      return;
    const bool is_trusted = attribute_named(origin_.ptr(), calls_.path).is_none();
    PyObject *const policy = is_trusted ? calls_.allow.ptr() : policy_;
    const py::object text =
        texts_ ? joined_texts(calls_, texts_) : owned(PyUnicode_FromObject(text_.ptr()));
    append_to(segments_.ptr(), owned(PyTuple_Pack(2, text.ptr(), policy)).ptr());
    append_to(origins_.ptr(), origin_.ptr());
  }

  const TextCalls &calls_;
  PyObject *policy_;
  py::list segments_;
  py::list origins_;
  py::object origin_; // of the texts of the last run
  py::object text_;   // the first one of them
  py::object texts_;  // a list of all of them, if there are several
};

// Returns the segments of a list of texts and tuples of texts, and the origins of the segments.
// The second argument is the policy of segments that are not trusted.
PyObject *join_texts(TextCalls &calls, const Arguments &args) {
  if (args.count != 2)
    return nullptr;
  ChatSegments joined(calls, args[1]);
  const auto add = [&](PyObject *text, Py_ssize_t, const py::object &origin) {
    joined.add_run(text, origin);
  };
  return visit_all_runs(calls, args, add) ? joined.finish().release().ptr() : nullptr;
}

// Returns the functions make, joined_segments, concat_parts, added_parts, joined_parts and trim
// of bpe/chat/text.py. They call the `slow` functions, in this order, for values that C++ does
// not know.
py::tuple chat_text_calls(const py::type &type, const py::tuple &slow) {
  auto *const text_type = reinterpret_cast<PyTypeObject *>(type.ptr());
  if (!PyType_IsSubtype(text_type, &PyUnicode_Type))
    throw py::type_error("expected a subclass of str");
  if (slow.size() != 6)
    throw py::value_error("expected six functions");
  const FastFunctions<TextCalls> functions(std::make_unique<TextCalls>(TextCalls{text_type}),
                                           type);
  return py::make_tuple(functions.make<make_text>("make", slow[0]),
                        functions.make<join_texts>("joined", slow[1]),
                        functions.make<concat_texts>("concat", slow[2]),
                        functions.make<traced_texts>("added_parts", slow[3]),
                        functions.make<traced_texts>("joined_parts", slow[4]),
                        functions.make<trimmed>("trim", slow[5]));
}

struct FieldCall {
  PyTypeObject *type; // FastFunctions keeps the objects alive
  PyObject *name;
  PyObject *nothing;
};

PyObject *get_field(FieldCall &call, const Arguments &args) {
  if (args.count != 1 || Py_TYPE(args[0]) != call.type)
    return nullptr;
  PyObject *const value = PyDict_GetItemWithError(args[0], call.name);
  if (value == nullptr && PyErr_Occurred() != nullptr)
    throw py::error_already_set();
  if (value == nullptr && call.nothing == Py_None)
    return nullptr;
  return py::reinterpret_borrow<py::object>(value != nullptr ? value : call.nothing)
      .release()
      .ptr();
}

// Returns a function that returns the item `name` of a mapping, or `nothing` if it has none.
// Calls `slow` for an argument of another type than `type`, and for a missing item if `nothing`
// is None.
py::object field_call(const py::type &type, const py::str &name, const py::object &nothing,
                      const py::object &slow) {
  auto *const fields = reinterpret_cast<PyTypeObject *>(type.ptr());
  if (!PyType_IsSubtype(fields, &PyDict_Type))
    throw py::type_error("expected a subclass of dict");
  return FastFunctions<FieldCall>(
             std::make_unique<FieldCall>(FieldCall{fields, name.ptr(), nothing.ptr()}),
             py::make_tuple(type, name, nothing))
      .make<get_field>("field", slow);
}

} // namespace

void bind_chat_calls(py::module_ &module) {
  module.def("chat_text_calls", &chat_text_calls, py::arg("type"), py::arg("slow"));
  module.def("field_call", &field_call, py::arg("type"), py::arg("name"), py::arg("nothing"),
             py::arg("slow"));
}

} // namespace pretok
