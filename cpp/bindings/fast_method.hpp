// Functions that Python calls with as little as possible in between.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

template <PyObject *(*FUNCTION)(PyObject *, PyObject *const *, Py_ssize_t)>
PyMethodDef fast_method(const char *name) {
  // The cast to another type of function is how CPython has it.
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(FUNCTION)),
          METH_FASTCALL, nullptr};
}

// Returns a function that gets `self` first. `method` must stay where it is.
inline pybind11::object new_function(PyMethodDef &method, const pybind11::object &self) {
  PyObject *function = PyCFunction_NewEx(&method, self.ptr(), nullptr);
  if (function == nullptr)
    throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(function);
}

// The same object that Python's code has for a name.
inline pybind11::object interned(const char *name) {
  PyObject *found = PyUnicode_InternFromString(name);
  if (found == nullptr)
    throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(found);
}

} // namespace pretok
