// Makes Python lists of ids.
#pragma once

#include "bindings/new_list.hpp"

#include "core/base/prefetch.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace pretok {

namespace py = pybind11;

// Caches one Python int per id, so that lists of ids share int objects. Creates the int of an
// id when the id first occurs. Frequent ids occur early, so their ints are mostly close in
// memory.
class IdObjects {
public:
  // Caches the ints of ids below `limit`. A larger id gets a new int each time.
  explicit IdObjects(std::size_t limit) {
#ifdef Py_GIL_DISABLED
    // In free-threaded Python, threads that share ints would contend for their reference
    // counts, so cache no ints.
    limit = 0;
#endif
    // calloc gets zeroed pages from the system. A page takes no memory until it is written.
    ints_ =
        static_cast<PyObject **>(std::calloc(std::max<std::size_t>(limit, 1), sizeof *ints_));
    if (ints_ == nullptr)
      throw std::bad_alloc();
    limit_ = limit;
  }
  IdObjects(const IdObjects &) = delete;
  IdObjects &operator=(const IdObjects &) = delete;
  ~IdObjects() {
    for (std::size_t id = 0; id < limit_; ++id)
      Py_XDECREF(ints_[id]);
    std::free(ints_);
  }

  // Empties the cache. Needs the GIL.
  void trim() {
    for (std::size_t id = 0; id < limit_; ++id)
      Py_CLEAR(ints_[id]);
  }

  // Returns a new list of the ints of ids. Needs the GIL. Throws the Python error.
  py::list as_list(const std::uint32_t *ids, std::size_t size) {
    NewList list(size);
    add_to(list, ids, size);
    return list.take();
  }

  // Adds the ints of ids to a list. Needs the GIL. Throws the Python error.
  void add_to(NewList &list, const std::uint32_t *ids, std::size_t size) {
    // Copy the members to locals, because the compiler would reload a member after each store.
    PyObject **const ints = ints_;
    const std::size_t limit = limit_;
    PyObject **const items = list.next();
    std::size_t i = 0;
    // Puts the int of ids[i] if it is in the cache. Returns whether it is.
    const auto put_known = [&] {
      PyObject *object = ints[ids[i]];
      if (object == nullptr)
        return false;
      Py_INCREF(object);
      items[i] = object;
      return true;
    };
    while (i < size) {
      // Prefetch each int AHEAD ids before its use: put_known writes its reference count.
      for (; i + AHEAD < size; ++i) {
        if (std::max(ids[i], ids[i + AHEAD]) >= limit)
          break;
        prefetch(ints[ids[i + AHEAD]]);
        if (!put_known())
          break;
      }
      if (i + AHEAD >= size)
        while (i < size && ids[i] < limit && put_known())
          ++i;
      if (i == size)
        break;
      PyObject *object = new_object(ids[i]);
      if (object == nullptr) {
        list.add(i);
        throw py::error_already_set();
      }
      items[i] = object;
      ++i;
    }
    list.add(size);
  }

  // Returns a new reference to the int of an id, or nullptr with an exception set. Needs the
  // GIL.
  PyObject *new_object(std::uint32_t id) {
    if (id < limit_ && ints_[id] != nullptr) {
      Py_INCREF(ints_[id]);
      return ints_[id];
    }
    PyObject *new_int = PyLong_FromUnsignedLong(id);
    if (new_int != nullptr && id < limit_) {
      Py_INCREF(new_int);
      ints_[id] = new_int;
    }
    return new_int;
  }

private:
  static constexpr std::size_t AHEAD = 16;

  PyObject **ints_ = nullptr; // by id; nullptr until the id occurs
  std::size_t limit_ = 0;
};

} // namespace pretok
