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
  py::object engine = interned("engine");
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

// Returns the value of an attribute in the __dict__ of an object, or None.
py::object own_attribute(const py::object &object, const py::object &name) {
  const py::object names = owned(PyObject_GenericGetDict(object.ptr(), nullptr));
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

// Returns whether a call without truncation and padding leaves the real tokenizer unchanged,
// and `size` ids are not too long for the model.
bool changes_nothing(const QuickCall &call, const py::object &tok, const py::object &real,
                     const py::object &split, py::ssize_t size) {
  if (!attribute(real, call.encode_special_tokens).is(split) ||
      !attribute(real, call.truncation).is_none() || !attribute(real, call.padding).is_none())
    return false;
  const py::object limit = attribute(tok, call.model_max_length);
  if (!PyLong_CheckExact(limit.ptr()))
    return false;
  int overflow = 0;
  const long long max = PyLong_AsLongLongAndOverflow(limit.ptr(), &overflow);
  return overflow > 0 || (overflow == 0 && size <= max);
}

// Returns the BatchEncoding, or None.
py::object answer(const QuickCall &call, const py::object &tok, const py::object &text) {
  if (!PyUnicode_CheckExact(text.ptr()))
    return py::none();
  const TextView view(text);
  if (view.has_surrogate() ||
      PyDict_GetItemWithError(call.is_plain.ptr(),
                              reinterpret_cast<PyObject *>(Py_TYPE(tok.ptr()))) != Py_True)
    return py::none();
  const py::object real = own_attribute(tok, call.tokenizer);
  const py::object state = real.is_none() ? real : own_attribute(real, call.key);
  if (state.is_none())
    return state;
  const py::object engine =
      owned(PyObject_CallMethodOneArg(state.ptr(), call.engine.ptr(), real.ptr()));
  const py::object parts = engine.is_none() ? engine : attribute(engine, call.quick_parts);
  const py::object split = attribute(tok, call.split_special_tokens);
  if (parts.is_none() || !PyBool_Check(split.ptr()))
    return py::none();
  const auto part = [&](py::ssize_t i) { return PyTuple_GET_ITEM(parts.ptr(), i); };

  const py::object &treatment = split.ptr() == Py_True ? call.text : call.allow;
  const std::array<PyObject *, 2> arguments{text.ptr(), treatment.ptr()};
  py::object ids = owned(PyObject_Vectorcall(part(0), arguments.data(), 2, nullptr));
  if (PyList_GET_SIZE(part(1)) != 0)
    ids = owned(PySequence_Concat(part(1), ids.ptr()));
  if (PyList_GET_SIZE(part(2)) != 0)
    ids = owned(PySequence_Concat(ids.ptr(), part(2)));
  const py::ssize_t size = PyList_GET_SIZE(ids.ptr());
  if (!changes_nothing(call, tok, real, split, size))
    return py::none();

  const py::object names = attribute(tok, call.model_input_names);
  py::dict data;
  data[call.input_ids] = ids;
  if (contains(names, call.token_type_ids)) {
    if (part(3) != Py_True)
      return py::none();
    data[call.token_type_ids] = filled(size, call.zero);
  }
  if (contains(names, call.attention_mask))
    data[call.attention_mask] = filled(size, call.one);

  const py::object encoding = new_object(call.encoding);
  set_attribute(encoding, call.source,
                owned(PyTuple_Pack(5, call.whole.ptr(), engine.ptr(), text.ptr(),
                                   treatment.ptr(), Py_True)));
  py::object result = new_object(call.batch_encoding);
  set_attribute(result, call.data, data);
  set_attribute(result, call.encodings, filled(1, encoding));
  set_attribute(result, call.n_sequences, call.one);
  const py::object served = attribute(state, call.served);
  set_attribute(state, call.served, owned(PyNumber_Add(served.ptr(), call.one.ptr())));
  return result;
}

// Returns `answer`. If it raises an Exception, returns None: the Python code then raises it.
PyObject *call_quickly(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "expected two arguments, a tokenizer and a text");
    return nullptr;
  }
#ifdef Py_GIL_DISABLED
  // Another thread may change an object while this function reads it.
  Py_RETURN_NONE;
#endif
  PyObject *result = guarded([&] {
    const auto &call = *static_cast<QuickCall *>(PyCapsule_GetPointer(self, nullptr));
    return answer(call, py::reinterpret_borrow<py::object>(args[0]),
                  py::reinterpret_borrow<py::object>(args[1]))
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
