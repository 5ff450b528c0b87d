// Creates Python functions that answer frequent calls in C++ without the cost of pybind11. All
// arguments are passed by position.
#pragma once

#include "bindings/convert.hpp"
#include "bindings/guarded.hpp"

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace pretok {

// The arguments of a call.
struct Arguments {
  PyObject *operator[](std::size_t i) const { return items[i]; }

  PyObject *const *items;
  std::size_t count;
};

// Makes functions that share a State.
//
// ANSWER(state, arguments) answers a call. It returns a new reference, and may throw. If it
// returns nullptr without an exception, the function `slow` of `make` is called instead.
template <typename State> class FastFunctions {
public:
  using Answer = PyObject *(*)(State &, const Arguments &);

  // The functions keep `kept` alive. Keep Python objects there, not in the State: the garbage
  // collector finds cycles only through `kept` and the slow functions.
  explicit FastFunctions(std::unique_ptr<State> state, py::object kept = py::none())
      : state_(owning_capsule(std::move(state))), kept_(std::move(kept)) {}

  // Returns a function. If `slow` is None, calls that ANSWER does not answer return None.
  template <Answer ANSWER>
  py::object make(const char *name, const py::handle &slow = py::none()) const {
    // PyMethodDef stores functions of every calling convention as PyCFunction.
    static PyMethodDef method{name, c_function<ANSWER>(), METH_FASTCALL, nullptr};
    const py::tuple self = py::make_tuple(state_, slow, kept_);
    return owned(PyCFunction_NewEx(&method, self.ptr(), nullptr));
  }

  // Returns the State of a function that `make` made of ANSWER, or nullptr for any other
  // object.
  template <Answer ANSWER> static State *state_of(PyObject *object) {
    const bool is_made = PyCFunction_CheckExact(object) &&
                         PyCFunction_GET_FUNCTION(object) == c_function<ANSWER>();
    return is_made ? &state_in(PyCFunction_GET_SELF(object)) : nullptr;
  }

private:
  static State &state_in(PyObject *self) {
    return *static_cast<State *>(PyCapsule_GetPointer(PyTuple_GET_ITEM(self, 0), nullptr));
  }

  template <Answer ANSWER> static PyCFunction c_function() {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call<ANSWER>));
  }

  template <Answer ANSWER>
  static PyObject *call(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    PyObject *result = guarded(
        [&] { return ANSWER(state_in(self), {args, static_cast<std::size_t>(count)}); });
    if (result != nullptr || PyErr_Occurred() != nullptr)
      return result;
    PyObject *const slow = PyTuple_GET_ITEM(self, 1);
    if (slow == Py_None)
      Py_RETURN_NONE;
    return PyObject_Vectorcall(slow, args, static_cast<std::size_t>(count), nullptr);
  }

  py::capsule state_;
  py::object kept_;
};

// Returns the interned str of a name. A literal with this text in Python code is the same
// object, so comparing pointers suffices.
inline py::object interned(const char *name) { return owned(PyUnicode_InternFromString(name)); }

} // namespace pretok
