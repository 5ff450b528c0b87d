// Makes Python lists of spans.
#pragma once

#include "bindings/id_objects.hpp"

#include "core/base/prefetch.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

namespace pretok {

// Caches the tuple (start, end) of each short span near the start of a text. Tokens of all
// texts have these spans, and reusing a tuple is faster than creating one.
class SpanObjects {
public:
  SpanObjects() {
    // calloc gets zeroed pages from the system. A page takes no memory until it is written.
    spans_ = static_cast<PyObject **>(std::calloc(SIZE, sizeof *spans_));
    if (spans_ == nullptr)
      throw std::bad_alloc();
  }
  SpanObjects(const SpanObjects &) = delete;
  SpanObjects &operator=(const SpanObjects &) = delete;
  ~SpanObjects() {
    trim();
    std::free(spans_);
  }

  // Empties the cache. Needs the GIL.
  void trim() {
    for (; used_ != 0; --used_)
      for (std::size_t width = 0; width < WIDTHS; ++width)
        Py_CLEAR(spans_[(used_ - 1) * WIDTHS + width]);
  }

  // Returns the new list of the spans. `ints` makes the ints. Needs the GIL.
  py::list as_list(IdObjects &ints, const std::vector<std::int64_t> &starts,
                   const std::vector<std::int64_t> &ends) {
    const std::size_t size = starts.size();
    py::list result(size);
    // Copy the member to a local, because the compiler would reload a member after each store.
    PyObject **const spans = spans_;
    for (std::size_t i = 0; i < size; ++i) {
      // Prefetch the place of a span 2 * AHEAD spans before its use, and its tuple AHEAD spans.
      if (i + 2 * AHEAD < size)
        prefetch(slot(spans, starts[i + 2 * AHEAD], ends[i + 2 * AHEAD]));
      if (i + AHEAD < size)
        if (PyObject *const *later = slot(spans, starts[i + AHEAD], ends[i + AHEAD]))
          prefetch(*later);
      PyObject **const known = slot(spans, starts[i], ends[i]);
      PyObject *span = known == nullptr ? nullptr : *known;
      Py_XINCREF(span);
      if (span == nullptr)
        span = new_object(ints, starts[i], ends[i], known);
      PyList_SET_ITEM(result.ptr(), static_cast<py::ssize_t>(i), span);
    }
    return result;
  }

private:
  static constexpr std::size_t STARTS = 8192; // the cache has spans that start before this
  static constexpr std::size_t WIDTHS = 16;   // and that are shorter than this
  static constexpr std::size_t SIZE = STARTS * WIDTHS;
  static constexpr std::size_t AHEAD = 8;

  // Returns the place of a span in `spans`, the cache, or nullptr if it has none.
  static PyObject **slot(PyObject **spans, std::int64_t start, std::int64_t end) {
#ifdef Py_GIL_DISABLED
    // In free-threaded Python, threads that share tuples would contend for their reference
    // counts.
    return nullptr;
#endif
    const auto width = static_cast<std::uint64_t>(end - start);
    const auto from = static_cast<std::uint64_t>(start);
    return from < STARTS && width < WIDTHS ? spans + from * WIDTHS + width : nullptr;
  }

  // Returns a new reference to the new tuple (start, end). Puts it in its place in the cache,
  // `known`, unless it is nullptr.
  PyObject *new_object(IdObjects &ints, std::int64_t start, std::int64_t end,
                       PyObject **known) {
    PyObject *span = new_tuple(ints, start, end);
    if (span == nullptr)
      throw py::error_already_set();
    if (known != nullptr) {
      Py_INCREF(span);
      *known = span;
      used_ = std::max(used_, static_cast<std::size_t>(start) + 1);
    }
    return span;
  }

  static PyObject *new_tuple(IdObjects &ints, std::int64_t start, std::int64_t end) {
    PyObject *span = PyTuple_New(2);
    if (span == nullptr)
      return nullptr;
    PyTuple_SET_ITEM(span, 0, ints.new_object(static_cast<std::uint32_t>(start)));
    PyTuple_SET_ITEM(span, 1, ints.new_object(static_cast<std::uint32_t>(end)));
    if (PyTuple_GET_ITEM(span, 0) != nullptr && PyTuple_GET_ITEM(span, 1) != nullptr) {
      // A tuple of ints refers to no other objects, so the garbage collector need not track it.
      PyObject_GC_UnTrack(span);
      return span;
    }
    Py_DECREF(span);
    return nullptr;
  }

  PyObject **spans_ = nullptr; // by start and width; nullptr until the span occurs
  std::size_t used_ = 0;       // no cached span starts at this offset or after it
};

} // namespace pretok
