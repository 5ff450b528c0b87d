// Creates Python functions with the calling convention METH_FASTCALL.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

// Returns the PyMethodDef of a C function: FUNCTION(self, arguments, number of arguments).
template <PyObject *(*FUNCTION)(PyObject *, PyObject *const *, Py_ssize_t)>
PyMethodDef fast_method(const char *name) {
  // PyMethodDef stores functions of every calling convention as PyCFunction.
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(FUNCTION)),
          METH_FASTCALL, nullptr};
}

// Returns a Python function that passes `self` as the first argument of the C function.
// `method` must outlive the Python function.
inline pybind11::object new_function(PyMethodDef &method, const pybind11::object &self) {
  PyObject *function = PyCFunction_NewEx(&method, self.ptr(), nullptr);
  if (function == nullptr)
    throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(function);
}

// Returns whether `object` is a Python function that new_function made of FUNCTION.
template <PyObject *(*FUNCTION)(PyObject *, PyObject *const *, Py_ssize_t)>
bool is_fast_method(PyObject *object) {
  return PyCFunction_CheckExact(object) &&
         PyCFunction_GET_FUNCTION(object) == fast_method<FUNCTION>(nullptr).ml_meth;
}

// Returns the interned str of a name. A literal with this text in Python code is the same
// object, so comparing pointers suffices.
inline pybind11::object interned(const char *name) {
  PyObject *str = PyUnicode_InternFromString(name);
  if (str == nullptr)
    throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(str);
}

} // namespace pretok
