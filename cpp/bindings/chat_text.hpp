// Makes TracedText (bpe/chat/text.py).
#pragma once

#include "bindings/fast_function.hpp"

#include <pybind11/pybind11.h>

namespace pretok {

namespace py = pybind11;

// The type TracedText, and the names that C++ reads and writes.
struct TextCalls {
  PyTypeObject *type; // TracedText; kept alive by FastFunctions
  py::object origin = interned("_origin");
  py::object several = interned("_several");
  py::object path = interned("path");
  py::object allow = interned("allow");
  py::object empty = interned("");
};

inline void append_to(PyObject *list, PyObject *item) {
  if (PyList_Append(list, item) != 0)
    throw py::error_already_set();
}

inline void assign(const py::object &object, const py::object &name, PyObject *value) {
  if (PyObject_SetAttr(object.ptr(), name.ptr(), value) != 0)
    throw py::error_already_set();
}

// Returns a TracedText whose characters all have one origin.
inline py::object traced_text(const TextCalls &calls, PyObject *text, PyObject *origin) {
  const py::object arguments = owned(PyTuple_Pack(1, text));
  py::object traced = owned(PyUnicode_Type.tp_new(calls.type, arguments.ptr(), nullptr));
  assign(traced, calls.origin, origin);
  return traced;
}

} // namespace pretok
