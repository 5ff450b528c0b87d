// Creates functions that Python calls with little overhead.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

template <PyObject *(*FUNCTION)(PyObject *, PyObject *const *, Py_ssize_t)>
PyMethodDef fast_method(const char *name) {
  // CPython itself casts functions to PyCFunction.
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(FUNCTION)),
          METH_FASTCALL, nullptr};
}

// Returns a function whose first argument is `self`. `method` must outlive it.
inline pybind11::object new_function(PyMethodDef &method, const pybind11::object &self) {
  PyObject *function = PyCFunction_NewEx(&method, self.ptr(), nullptr);
  if (function == nullptr)
    throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(function);
}

// Returns the interned str of a name, the object that Python code uses.
inline pybind11::object interned(const char *name) {
  PyObject *str = PyUnicode_InternFromString(name);
  if (str == nullptr)
    throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(str);
}

} // namespace pretok
