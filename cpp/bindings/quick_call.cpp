#include "bindings/quick_call.hpp"

#include "bindings/convert.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/guarded.hpp"

#include <array>
#include <memory>
#include <utility>

namespace pretok {
namespace {

// The arguments of quick_call, and interned strs.
struct QuickCall {
  py::object key;
  py::dict is_plain;
  py::object batch_encoding;
  py::object encoding;
  py::object whole;

  py::object tokenizer = interned("_tokenizer");
  py::object is_current = interned("_is_current");
  py::object handles = interned("_handles");
  py::object engine = interned("_engine");
  py::object quick_parts = interned("quick_parts");
  py::object split_special_tokens = interned("split_special_tokens");
  py::object encode_special_tokens = interned("encode_special_tokens");
  py::object truncation = interned("truncation");
  py::object padding = interned("padding");
  py::object model_max_length = interned("model_max_length");
  py::object model_input_names = interned("model_input_names");
  py::object input_ids = interned("input_ids");
  py::object token_type_ids = interned("token_type_ids");
  py::object attention_mask = interned("attention_mask");
  py::object text = interned("text");
  py::object allow = interned("allow");
  py::object source = interned("_source");
  py::object data = interned("data");
  py::object encodings = interned("_encodings");
  py::object n_sequences = interned("_n_sequences");
  py::object served = interned("served");
  py::object offset_mapping = interned("offset_mapping");
  py::object no_span = py::make_tuple(0, 0); // the span of an id of the template
  py::object one = py::int_(1);
  py::object zero = py::int_(0);
};

// Returns a new reference as an object. Throws the Python error if it is nullptr.
py::object owned(PyObject *object) {
  if (object == nullptr)
    throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

py::object attribute(const py::object &object, const py::object &name) {
  return owned(PyObject_GetAttr(object.ptr(), name.ptr()));
}

void set_attribute(const py::object &object, const py::object &name, const py::object &value) {
  if (PyObject_SetAttr(object.ptr(), name.ptr(), value.ptr()) != 0)
    throw py::error_already_set();
}

py::object names_of(const py::object &object) {
  return owned(PyObject_GenericGetDict(object.ptr(), nullptr));
}

// Returns the value of a name in the __dict__ of an object, or None.
py::object find(const py::object &names, py::handle name) {
  PyObject *value = PyDict_GetItemWithError(names.ptr(), name.ptr());
  if (value == nullptr && PyErr_Occurred() != nullptr)
    throw py::error_already_set();
  return value == nullptr ? py::none() : py::reinterpret_borrow<py::object>(value);
}

// Returns a new object of a class in Python, as object.__new__ does.
py::object new_object(const py::object &type) {
  auto *const made = reinterpret_cast<PyTypeObject *>(type.ptr());
  return owned(made->tp_alloc(made, 0));
}

py::list filled(py::ssize_t size, const py::object &item) {
  py::list list(static_cast<std::size_t>(size));
  for (py::ssize_t i = 0; i < size; ++i) {
    Py_INCREF(item.ptr());
    PyList_SET_ITEM(list.ptr(), i, item.ptr());
  }
  return list;
}

bool contains(const py::object &names, const py::object &name) {
  const int found = PySequence_Contains(names.ptr(), name.ptr());
  if (found < 0)
    throw py::error_already_set();
  return found != 0;
}

// Puts `count` spans of the template at `index` of a list of spans.
void add_spans(const QuickCall &call, const py::object &spans, py::ssize_t index,
               py::ssize_t count) {
  if (count == 0)
    return;
  const py::list added = filled(count, call.no_span);
  if (PyList_SetSlice(spans.ptr(), index, index, added.ptr()) != 0)
    throw py::error_already_set();
}

// Returns whether a call without truncation and padding leaves the real tokenizer unchanged.
bool changes_nothing(const QuickCall &call, const py::object &real, const py::object &split) {
  return attribute(real, call.encode_special_tokens).is(split) &&
         attribute(real, call.truncation).is_none() && attribute(real, call.padding).is_none();
}

// Returns whether `limit`, the maximal length of a text of a model, is an int, and at least
// `size`.
bool is_within(const py::object &limit, py::ssize_t size) {
  if (!PyLong_CheckExact(limit.ptr()))
    return false;
  int overflow = 0;
  const long long max = PyLong_AsLongLongAndOverflow(limit.ptr(), &overflow);
  return overflow > 0 || (overflow == 0 && size <= max);
}

// Returns the engine of a State if State.engine(real) would return it without any work; else
// None.
py::object current_engine(const QuickCall &call, const py::object &state) {
  const py::object handles = find(state, call.handles);
  const bool is_current = find(state, call.is_current).ptr() == Py_True &&
                          PyList_CheckExact(handles.ptr()) &&
                          PyList_GET_SIZE(handles.ptr()) == 0;
  return is_current ? find(state, call.engine) : py::none();
}

// Returns the BatchEncoding, or None.
py::object answer(const QuickCall &call, const py::object &tok, const py::object &text,
                  bool wants_spans) {
  if (!PyUnicode_CheckExact(text.ptr()))
    return py::none();
  const TextView view(text);
  const py::handle type(reinterpret_cast<PyObject *>(Py_TYPE(tok.ptr())));
  if (view.has_surrogate() || find(call.is_plain, type).ptr() != Py_True)
    return py::none();
  // Attributes in a __dict__ are read from there, since the class of `tok` has a __getattr__,
  // which makes other ways slow. Classes.is_plain excludes classes with properties of these
  // names.
  const py::object settings = names_of(tok);
  const py::object real = find(settings, call.tokenizer);
  const py::object found = real.is_none() ? real : find(names_of(real), call.key);
  if (found.is_none())
    return found;
  const py::object state = names_of(found);
  const py::object engine = current_engine(call, state);
  const py::object parts = engine.is_none() ? engine : attribute(engine, call.quick_parts);
  const py::object split = find(settings, call.split_special_tokens);
  if (parts.is_none() || !PyBool_Check(split.ptr()) || !changes_nothing(call, real, split))
    return py::none();
  const auto part = [&](py::ssize_t i) { return PyTuple_GET_ITEM(parts.ptr(), i); };

  if (split.ptr() == Py_True && part(4) != Py_True)
    return py::none();
  const py::object &treatment = split.ptr() == Py_True ? call.text : call.allow;
  const std::array<PyObject *, 2> arguments{text.ptr(), treatment.ptr()};
  py::object ids =
      owned(PyObject_Vectorcall(part(wants_spans ? 5 : 0), arguments.data(), 2, nullptr));
  py::object spans;
  if (wants_spans) {
    if (ids.is_none())
      return ids;
    spans = py::reinterpret_borrow<py::object>(PyTuple_GetItem(ids.ptr(), 1));
    ids = py::reinterpret_borrow<py::object>(PyTuple_GetItem(ids.ptr(), 0));
    add_spans(call, spans, 0, PyList_GET_SIZE(part(1)));
    add_spans(call, spans, PyList_GET_SIZE(spans.ptr()), PyList_GET_SIZE(part(2)));
  }
  if (PyList_GET_SIZE(part(1)) != 0)
    ids = owned(PySequence_Concat(part(1), ids.ptr()));
  if (PyList_GET_SIZE(part(2)) != 0)
    ids = owned(PySequence_Concat(ids.ptr(), part(2)));
  const py::ssize_t size = PyList_GET_SIZE(ids.ptr());
  const py::object names = find(settings, call.model_input_names);
  if (!is_within(find(settings, call.model_max_length), size) || names.is_none())
    return py::none();

  py::dict data;
  data[call.input_ids] = ids;
  if (contains(names, call.token_type_ids)) {
    if (part(3) != Py_True)
      return py::none();
    data[call.token_type_ids] = filled(size, call.zero);
  }
  if (contains(names, call.attention_mask))
    data[call.attention_mask] = filled(size, call.one);
  if (wants_spans)
    data[call.offset_mapping] = spans;

  const py::object encoding = new_object(call.encoding);
  set_attribute(encoding, call.source,
                owned(PyTuple_Pack(5, call.whole.ptr(), engine.ptr(), text.ptr(),
                                   treatment.ptr(), Py_True)));
  py::object result = new_object(call.batch_encoding);
  set_attribute(result, call.data, data);
  set_attribute(result, call.encodings, filled(1, encoding));
  set_attribute(result, call.n_sequences, call.one);
  const py::object served = find(state, call.served);
  const py::object more = owned(PyNumber_Add(served.ptr(), call.one.ptr()));
  if (PyDict_SetItem(state.ptr(), call.served.ptr(), more.ptr()) != 0)
    throw py::error_already_set();
  return result;
}

// Returns `answer`. If it raises an Exception, returns None: the Python code then raises it.
PyObject *call_quickly(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  if (count != 3) {
    PyErr_SetString(PyExc_TypeError,
                    "expected three arguments: a tokenizer, a text, and wants_spans");
    return nullptr;
  }
#ifdef Py_GIL_DISABLED
  // Another thread may change an object while this function reads it.
  Py_RETURN_NONE;
#endif
  PyObject *result = guarded([&] {
    const auto &call = *static_cast<QuickCall *>(PyCapsule_GetPointer(self, nullptr));
    return answer(call, py::reinterpret_borrow<py::object>(args[0]),
                  py::reinterpret_borrow<py::object>(args[1]), args[2] == Py_True)
        .release()
        .ptr();
  });
  if (result == nullptr && PyErr_ExceptionMatches(PyExc_Exception) != 0) {
    PyErr_Clear();
    Py_RETURN_NONE;
  }
  return result;
}

py::object quick_call(py::object key, py::dict is_plain, py::object batch_encoding,
                      py::object encoding, py::object whole) {
  static PyMethodDef method = fast_method<call_quickly>("quick_call");
  auto call = std::make_unique<QuickCall>(QuickCall{std::move(key), std::move(is_plain),
                                                    std::move(batch_encoding),
                                                    std::move(encoding), std::move(whole)});
  const py::capsule capsule(call.release(),
                            [](void *p) { delete static_cast<QuickCall *>(p); });
  return new_function(method, capsule);
}

} // namespace

void bind_quick_call(py::module_ &module) {
  module.def("quick_call", &quick_call, py::arg("key"), py::arg("is_plain"),
             py::arg("batch_encoding"), py::arg("encoding"), py::arg("whole"));
}

} // namespace pretok
