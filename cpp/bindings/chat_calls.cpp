#include "bindings/chat_calls.hpp"

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

void set_attribute(const py::object &object, const py::object &name, PyObject *value) {
  if (PyObject_SetAttr(object.ptr(), name.ptr(), value) != 0)
    throw py::error_already_set();
}

// Returns a TracedText whose characters all have one origin.
py::object text_of(const TextCalls &calls, PyObject *text, PyObject *origin) {
  const py::object arguments = owned(PyTuple_Pack(1, text));
  py::object traced = owned(PyUnicode_Type.tp_new(calls.type, arguments.ptr(), nullptr));
  set_attribute(traced, calls.origin, origin);
  return traced;
}

// Returns a TracedText of the arguments: a text, and the origin of all its characters.
PyObject *make_text(TextCalls &calls, const Arguments &args) {
  if (args.count != 2 || !PyUnicode_Check(args[0]))
    return nullptr;
  return text_of(calls, args[0], args[1]).release().ptr();
}

// Returns a tuple of the arguments, which are all TracedText.
PyObject *texts_of(TextCalls &calls, const Arguments &args) {
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

py::object joined_texts(const py::list &texts) {
  return owned(PyUnicode_Join(py::str().ptr(), texts.ptr()));
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
  py::object text =
      text_of(calls, joined_texts(texts).ptr(), is_one ? pieces[0].origin.ptr() : Py_None);
  if (!is_one) {
    py::tuple several(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i)
      several[i] = py::make_tuple(pieces[i].size, pieces[i].origin);
    set_attribute(text, calls.several, several.ptr());
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
      texts_ = py::list();
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
    append_to(segments_.ptr(),
              owned(PyTuple_Pack(2, joined_texts(texts_).ptr(), policy)).ptr());
    append_to(origins_.ptr(), origin_.ptr());
  }

  const TextCalls &calls_;
  PyObject *policy_;
  py::list segments_;
  py::list origins_;
  py::object origin_; // of the texts of the last run
  py::list texts_;
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
                        functions.make<texts_of>("added_parts", slow[3]),
                        functions.make<texts_of>("joined_parts", slow[4]),
                        functions.make<trimmed>("trim", slow[5]));
}

struct MessageCall {
  PyObject *type; // Fields; FastFunctions keeps the objects alive
  PyObject *make;
  PyObject *roles;
  PyObject *names;
  PyObject *origin_of;
  py::object role = interned("role");
  py::object messages = interned("messages");
  py::object path = interned("_path");
  py::object raw = interned("_raw");
};

// Returns the value of a field of a message as TracedText, or nothing if the field or its value
// is not a usual one.
py::object message_text(const MessageCall &call, PyObject *at, PyObject *name,
                        PyObject *value) {
  if (!PyUnicode_CheckExact(name) || !PyUnicode_CheckExact(value))
    return {};
  const int is_known = PySet_Contains(call.names, name);
  if (is_known < 0)
    throw py::error_already_set();
  if (is_known == 0)
    return {};
  if (PyUnicode_Compare(name, call.role.ptr()) == 0)
    if (PyObject *const trusted = PyDict_GetItemWithError(call.roles, value))
      return py::reinterpret_borrow<py::object>(trusted);
  const py::object origin =
      owned(PyObject_CallFunctionObjArgs(call.origin_of, at, name, nullptr));
  return owned(PyObject_CallFunctionObjArgs(call.make, value, origin.ptr(), nullptr));
}

// Returns a message, whose fields are usual ones with texts, as Fields. The second argument is
// its index.
PyObject *convert_message(MessageCall &call, const Arguments &args) {
  if (args.count != 2 || !PyDict_CheckExact(args[0]))
    return nullptr;
  py::object fields = owned(PyObject_CallNoArgs(call.type));
  PyObject *name = nullptr;
  PyObject *value = nullptr;
  for (Py_ssize_t place = 0; PyDict_Next(args[0], &place, &name, &value) != 0;) {
    const auto kept_name = py::reinterpret_borrow<py::object>(name);
    const auto kept_value = py::reinterpret_borrow<py::object>(value);
    const py::object text = message_text(call, args[1], name, value);
    if (!text)
      return nullptr;
    if (PyDict_SetItem(fields.ptr(), name, text.ptr()) != 0)
      throw py::error_already_set();
  }
  const py::object path = owned(PyTuple_Pack(2, call.messages.ptr(), args[1]));
  set_attribute(fields, call.path, path.ptr());
  set_attribute(fields, call.raw, args[0]);
  return fields.release().ptr();
}

// Returns a function that converts a message and its index to an object of `type`. It makes
// texts with `make` and `origin_of`; `roles` has the texts of trusted roles, and `names` the
// usual fields. Calls `slow` for a message with other fields or values.
py::object message_call(const py::type &type, const py::object &make, const py::dict &roles,
                        const py::frozenset &names, const py::object &origin_of,
                        const py::object &slow) {
  if (!PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(type.ptr()), &PyDict_Type))
    throw py::type_error("expected a subclass of dict");
  return FastFunctions<MessageCall>(
             std::make_unique<MessageCall>(MessageCall{type.ptr(), make.ptr(), roles.ptr(),
                                                       names.ptr(), origin_of.ptr()}),
             py::make_tuple(type, make, roles, names, origin_of))
      .make<convert_message>("message", slow);
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
  module.def("message_call", &message_call, py::arg("type"), py::arg("make"), py::arg("roles"),
             py::arg("names"), py::arg("origin_of"), py::arg("slow"));
  module.def("field_call", &field_call, py::arg("type"), py::arg("name"), py::arg("nothing"),
             py::arg("slow"));
}

} // namespace pretok
