// Turns C++ exceptions into Python errors, for functions that pybind11 does not wrap.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <new>

namespace pretok {

// Returns work(). If it throws, sets the Python error and returns nullptr.
template <typename Work> PyObject *guarded(Work work) {
  try {
    return work();
  } catch (pybind11::error_already_set &error) {
    error.restore();
  } catch (const pybind11::builtin_exception &error) { // such as py::type_error
    error.set_error();
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

} // namespace pretok
