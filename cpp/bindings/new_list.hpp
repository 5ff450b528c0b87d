// Builds Python lists.
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <utility>

// The list objects of free-threaded Python and of PyPy have other fields.
#if !defined(Py_GIL_DISABLED) && !defined(PYPY_VERSION)
#define PRETOK_HAS_LIST_FIELDS
#endif

namespace pretok {

namespace py = pybind11;

// Adds `count` references to an object.
inline void add_references(PyObject *object, std::size_t count) {
#if PY_VERSION_HEX < 0x030C0000 && !defined(PYPY_VERSION)
  // One addition is faster than many increments of one number.
  Py_SET_REFCNT(object, Py_REFCNT(object) + static_cast<Py_ssize_t>(count));
#else
  for (std::size_t i = 0; i < count; ++i) // Python may not count the references to `object`
    Py_INCREF(object);
#endif
}

// A list whose items are added one after the other. Its size is known from the start. All
// functions need the GIL.
//
// PyList_New would clear the memory of the items first. The garbage collector may run while
// items are created. It cannot see a NewList, only the Python list that take() makes of it.
class NewList {
public:
  // Makes room for `size` items. Throws the Python error.
  explicit NewList(std::size_t size) {
#ifdef PRETOK_HAS_LIST_FIELDS
    capacity_ = std::max<std::size_t>(size, 1);
    items_ = PyMem_New(PyObject *, capacity_);
    if (items_ == nullptr) {
      PyErr_NoMemory();
      throw py::error_already_set();
    }
#else
    list_ = py::list(size);
    items_ = PySequence_Fast_ITEMS(list_.ptr());
#endif
    next_ = items_;
  }
  NewList(const NewList &) = delete;
  NewList &operator=(const NewList &) = delete;
  ~NewList() {
#ifdef PRETOK_HAS_LIST_FIELDS
    while (next_ != items_)
      Py_DECREF(*--next_);
    PyMem_Free(items_);
#endif
  }

  // Returns the place of the next item.
  PyObject **next() { return next_; }
  // Adds the `count` items that the caller has written at next(). Takes the caller's reference
  // to each.
  void add(std::size_t count) { next_ += count; }
  // Adds the first `count` items of a Python list.
  void add_all(PyObject *list, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      add_copies(PyList_GET_ITEM(list, static_cast<Py_ssize_t>(i)), 1);
  }
  // Adds `item` `count` times.
  void add_copies(PyObject *item, std::size_t count) {
    add_references(item, count);
    next_ = std::fill_n(next_, count, item);
  }

  // Returns the list. Call it once, when all items are added. Throws the Python error.
  py::list take() {
#ifdef PRETOK_HAS_LIST_FIELDS
    py::list result;
    auto *const list = reinterpret_cast<PyListObject *>(result.ptr());
    list->ob_item = items_;
    list->allocated = static_cast<Py_ssize_t>(capacity_);
    Py_SET_SIZE(list, next_ - items_);
    items_ = next_ = nullptr;
    return result;
#else
    return std::move(list_);
#endif
  }

private:
  PyObject **items_;
  PyObject **next_;
#ifdef PRETOK_HAS_LIST_FIELDS
  std::size_t capacity_;
#else
  py::list list_;
#endif
};

} // namespace pretok
