#include "bindings/chat_calls.hpp"

#include "bindings/fast_function.hpp"

#include <memory>
#include <utility>

namespace py = pybind11;

namespace pretok {
namespace {

py::object attribute_named(PyObject *object, const py::object &name) {
  return owned(PyObject_GetAttr(object, name.ptr()));
}

void append_to(PyObject *list, PyObject *item) {
  if (PyList_Append(list, item) != 0)
    throw py::error_already_set();
}

struct TextCalls {
  PyTypeObject *type; // TracedText; FastFunctions keeps it alive
  py::object origin = interned("_origin");
  py::object several = interned("_several");
  py::object path = interned("path");
  py::object allow = interned("allow");
};

// Returns a TracedText of the arguments: a text, and the origin of all its characters.
PyObject *make_text(TextCalls &calls, const Arguments &args) {
  if (args.count != 2 || !PyUnicode_Check(args[0]))
    return nullptr;
  const py::object arguments = owned(PyTuple_Pack(1, args[0]));
  py::object text = owned(PyUnicode_Type.tp_new(calls.type, arguments.ptr(), nullptr));
  if (PyObject_SetAttr(text.ptr(), calls.origin.ptr(), args[1]) != 0)
    throw py::error_already_set();
  return text.release().ptr();
}

// The segments of rendered text, and their origins. Adjacent texts of one origin are joined.
class ChatSegments {
public:
  ChatSegments(const TextCalls &calls, PyObject *policy) : calls_(calls), policy_(policy) {}

  // Adds a TracedText. Returns false for any other object.
  bool add(PyObject *text) {
    if (Py_TYPE(text) != calls_.type)
      return false;
    const py::object origin = attribute_named(text, calls_.origin);
    if (!origin.is_none()) {
      if (PyUnicode_GET_LENGTH(text) != 0)
        add_run(text, origin);
      return true;
    }
    const py::object pieces = attribute_named(text, calls_.several);
    Py_ssize_t at = 0;
    for (const py::handle piece : pieces) {
      const auto pair = py::cast<py::tuple>(piece);
      const auto size = py::cast<Py_ssize_t>(pair[0]);
      add_run(owned(PyUnicode_Substring(text, at, at + size)).ptr(), pair[1]);
      at += size;
    }
    return true;
  }

  py::tuple finish() {
    finish_run();
    return py::make_tuple(std::move(segments_), std::move(origins_));
  }

private:
  void add_run(PyObject *text, const py::object &origin) {
    if (origin.ptr() != origin_.ptr()) {
      finish_run();
      origin_ = origin;
      texts_ = py::list();
    }
    append_to(texts_.ptr(), text);
  }

  void finish_run() {
    if (!origin_)
      return;
    const py::object text = owned(PyUnicode_Join(empty_.ptr(), texts_.ptr()));
    const bool is_trusted = attribute_named(origin_.ptr(), calls_.path).is_none();
    PyObject *const policy = is_trusted ? calls_.allow.ptr() : policy_;
    append_to(segments_.ptr(), owned(PyTuple_Pack(2, text.ptr(), policy)).ptr());
    append_to(origins_.ptr(), origin_.ptr());
  }

  const TextCalls &calls_;
  PyObject *policy_;
  py::list segments_;
  py::list origins_;
  py::object origin_; // of the texts of the last run
  py::list texts_;
  py::str empty_;
};

// Returns the segments of a list of texts and tuples of texts, and the origins of the segments.
// The second argument is the policy of segments that are not trusted.
PyObject *join_texts(TextCalls &calls, const Arguments &args) {
  if (args.count != 2 || !PyList_CheckExact(args[0]))
    return nullptr;
  ChatSegments joined(calls, args[1]);
  for (Py_ssize_t at = 0; at < PyList_GET_SIZE(args[0]); ++at) {
    const auto part = py::reinterpret_borrow<py::object>(PyList_GET_ITEM(args[0], at));
    if (joined.add(part.ptr()))
      continue;
    if (!PyTuple_Check(part.ptr()))
      return nullptr;
    for (const py::handle text : py::reinterpret_borrow<py::tuple>(part))
      if (!joined.add(text.ptr()))
        return nullptr;
  }
  return joined.finish().release().ptr();
}

// Returns the functions make(text, origin) and joined(parts, policy) of bpe/chat/text.py. Calls
// the slow functions for values that C++ does not know.
py::tuple chat_text_calls(const py::type &type, const py::object &slow_make,
                          const py::object &slow_join) {
  auto *const text_type = reinterpret_cast<PyTypeObject *>(type.ptr());
  if (!PyType_IsSubtype(text_type, &PyUnicode_Type))
    throw py::type_error("expected a subclass of str");
  const FastFunctions<TextCalls> functions(std::make_unique<TextCalls>(TextCalls{text_type}),
                                           type);
  return py::make_tuple(functions.make<make_text>("make", slow_make),
                        functions.make<join_texts>("joined", slow_join));
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
  module.def("chat_text_calls", &chat_text_calls, py::arg("type"), py::arg("slow_make"),
             py::arg("slow_join"));
  module.def("field_call", &field_call, py::arg("type"), py::arg("name"), py::arg("nothing"),
             py::arg("slow"));
}

} // namespace pretok
