// Lists of ids.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

namespace py = pybind11;

// Python's ints for ids, each made once: lists of ids are made of the same ones again and
// again.
class IdObjects {
public:
  IdObjects() = default;
  IdObjects(const IdObjects &) = delete;
  IdObjects &operator=(const IdObjects &) = delete;
  ~IdObjects() {
    for (PyObject *made : made_)
      Py_XDECREF(made);
  }

  // Needs the interpreter's lock.
  py::list as_list(const std::uint32_t *ids, std::size_t size) {
    py::list result(size);
    for (std::size_t i = 0; i < size; ++i) {
      PyObject *object = of(ids[i]);
      if (object == nullptr)
        throw py::error_already_set();
      PyList_SET_ITEM(result.ptr(), static_cast<py::ssize_t>(i), object);
    }
    return result;
  }

private:
  // Returns a new reference, or nullptr with an exception set.
  PyObject *of(std::uint32_t id) {
#ifdef Py_GIL_DISABLED
    // Threads that share objects would wait for each other to count their references.
    return PyLong_FromUnsignedLong(id);
#else
    if (id >= made_.size())
      made_.resize(std::size_t{id} + 1);
    if (made_[id] == nullptr && (made_[id] = PyLong_FromUnsignedLong(id)) == nullptr)
      return nullptr;
    Py_INCREF(made_[id]);
    return made_[id];
#endif
  }

  std::vector<PyObject *> made_;
};

} // namespace pretok
