// Makes Python lists of spans.
#pragma once

#include "bindings/id_objects.hpp"
#include "bindings/token_shapes.hpp"

#include "core/base/prefetch.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

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

  // Returns the new list of `size` spans. `ints` makes the ints. Needs the GIL.
  py::list as_list(IdObjects &ints, const Span *spans, std::size_t size) {
    py::list result(size);
    // A block of spans takes three steps. Each step prefetches what the next step reads.
    std::array<PyObject **, BLOCK> slots; // not initialized
    for (std::size_t start = 0; start < size; start += BLOCK) {
      const std::size_t count = std::min(BLOCK, size - start);
      for (std::size_t i = 0; i < count; ++i) {
        slots[i] = slot(spans[start + i]);
        prefetch(slots[i]);
      }
      for (std::size_t i = 0; i < count; ++i)
        if (slots[i] != nullptr)
          prefetch(*slots[i]);
      for (std::size_t i = 0; i < count; ++i) {
        PyObject *span = slots[i] == nullptr ? nullptr : *slots[i];
        Py_XINCREF(span);
        if (span == nullptr)
          span = new_object(ints, spans[start + i], slots[i]);
        PyList_SET_ITEM(result.ptr(), static_cast<py::ssize_t>(start + i), span);
      }
    }
    return result;
  }

private:
  static constexpr std::size_t STARTS = 8192; // the cache has spans that start before this
  static constexpr std::size_t WIDTHS = 16;   // and that are shorter than this
  static constexpr std::size_t SIZE = STARTS * WIDTHS;
  static constexpr std::size_t BLOCK = 32;

  // Returns the place of a span in the cache, or nullptr if it has none.
  PyObject **slot(Span span) const {
#ifdef Py_GIL_DISABLED
    // In free-threaded Python, threads that share tuples would contend for their reference
    // counts.
    return nullptr;
#endif
    const std::size_t start = span.start;
    const std::size_t width = span.end - span.start;
    return start < STARTS && width < WIDTHS ? spans_ + start * WIDTHS + width : nullptr;
  }

  // Returns a new reference to the new tuple (start, end). Puts it in its place in the cache,
  // `known`, unless it is nullptr.
  PyObject *new_object(IdObjects &ints, Span span, PyObject **known) {
    PyObject *tuple = new_tuple(ints, span);
    if (tuple == nullptr)
      throw py::error_already_set();
    if (known != nullptr) {
      Py_INCREF(tuple);
      *known = tuple;
      used_ = std::max(used_, std::size_t{span.start} + 1);
    }
    return tuple;
  }

  static PyObject *new_tuple(IdObjects &ints, Span span) {
    PyObject *tuple = PyTuple_New(2);
    if (tuple == nullptr)
      return nullptr;
    PyTuple_SET_ITEM(tuple, 0, ints.new_object(span.start));
    PyTuple_SET_ITEM(tuple, 1, ints.new_object(span.end));
    if (PyTuple_GET_ITEM(tuple, 0) != nullptr && PyTuple_GET_ITEM(tuple, 1) != nullptr) {
      // A tuple of ints refers to no other objects, so the garbage collector need not track it.
      PyObject_GC_UnTrack(tuple);
      return tuple;
    }
    Py_DECREF(tuple);
    return nullptr;
  }

  PyObject **spans_ = nullptr; // by start and width; nullptr until the span occurs
  std::size_t used_ = 0;       // no cached span starts at this offset or after it
};

} // namespace pretok
