// Makes Python lists of spans.
#pragma once

#include "bindings/id_objects.hpp"
#include "bindings/new_list.hpp"
#include "bindings/token_shapes.hpp"

#include "core/base/noinline.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
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
    tuples_ = static_cast<std::uint32_t *>(std::calloc(SIZE, sizeof *tuples_));
    if (tuples_ == nullptr)
      throw std::bad_alloc();
  }
  SpanObjects(const SpanObjects &) = delete;
  SpanObjects &operator=(const SpanObjects &) = delete;
  ~SpanObjects() {
    trim();
    std::free(tuples_);
  }

  // Empties the cache. Needs the GIL.
  void trim() {
    for (; used_ != 0; --used_)
      for (std::uint32_t width = 0; width < WIDTHS; ++width) {
        std::uint32_t &tuple = tuples_[index_of(used_ - 1, width)];
        if (tuple == 0)
          continue;
        PyObject *const object = object_of(tuple);
        tuple = 0;
        Py_DECREF(object);
      }
  }

  // Adds the tuples of `count` spans to a list. `ints` makes the ints. Needs the GIL. Throws
  // the Python error.
  void add_to(NewList &list, IdObjects &ints, const Span *spans, std::size_t count) {
    PyObject **const items = list.next();
    const std::uint32_t *const tuples = tuples_;
    const std::uint64_t base = base_;
    // Simple loops, so that the processor reads the memory of many tuples at once.
    bool are_known = true;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t width = spans[i].end - spans[i].start;
      const std::uint32_t tuple =
          is_cached(spans[i].start, width) ? tuples[index_of(spans[i].start, width)] : 0;
      items[i] = object_of(tuple, base);
      are_known = are_known && tuple != 0;
    }
    if (are_known)
      for (std::size_t i = 0; i < count; ++i)
        Py_INCREF(items[i]);
    else
      put(items, ints, spans, count);
    list.add(count);
  }

private:
  static constexpr std::uint32_t STARTS = 8192; // the cache has spans that start before this
  static constexpr std::uint32_t WIDTHS = 16;   // and that are shorter than this
  static constexpr std::uint32_t ROW = 8;       // so many widths are in one row
  static constexpr std::size_t SIZE = std::size_t{STARTS} * WIDTHS;
  static constexpr unsigned SHIFT = 3; // the address of an object is a multiple of 8

  static bool is_cached(std::uint32_t start, std::uint32_t width) {
    return start < STARTS && width < WIDTHS;
  }

  // Returns the index of a span in the cache. Most tokens are short, so the rows of short spans
  // come first: two of them share a cache line.
  static std::size_t index_of(std::uint32_t start, std::uint32_t width) {
    return std::size_t{width / ROW * STARTS + start} * ROW + width % ROW;
  }

  static PyObject *object_of(std::uint32_t tuple, std::uint64_t base) {
    return reinterpret_cast<PyObject *>(
        static_cast<std::uintptr_t>(base + (std::uint64_t{tuple} << SHIFT)));
  }
  PyObject *object_of(std::uint32_t tuple) const { return object_of(tuple, base_); }

  // Writes a new reference to the tuple of each span to `items`. Makes the tuples that are not
  // in the cache.
  PRETOK_NOINLINE void put(PyObject **items, IdObjects &ints, const Span *spans,
                           std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const Span span = spans[i];
      const std::uint32_t width = span.end - span.start;
      const std::uint32_t tuple =
          is_cached(span.start, width) ? tuples_[index_of(span.start, width)] : 0;
      items[i] = tuple == 0 ? nullptr : object_of(tuple);
      Py_XINCREF(items[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (items[i] != nullptr)
        continue;
      items[i] = new_tuple(ints, spans[i]);
      if (items[i] == nullptr) {
        for (std::size_t k = 0; k < count; ++k)
          Py_CLEAR(items[k]);
        throw py::error_already_set();
      }
      insert(spans[i], items[i]);
    }
  }

  // Puts a tuple into the cache if it has a place there.
  void insert(Span span, PyObject *tuple) {
#ifdef Py_GIL_DISABLED
    // In free-threaded Python, threads that share tuples would contend for their reference
    // counts.
    return;
#endif
    const std::uint32_t width = span.end - span.start;
    if (!is_cached(span.start, width))
      return;
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(tuple);
    if (base_ == 0 && sizeof(void *) > sizeof(std::uint32_t))
      base_ = address - (std::uint64_t{1} << (31 + SHIFT));
    const auto number = static_cast<std::uint32_t>((address - base_) >> SHIFT);
    std::uint32_t &place = tuples_[index_of(span.start, width)];
    // Creating a tuple may run Python code, which may have put another tuple into the place.
    if (place != 0 || number == 0 || object_of(number) != tuple)
      return;
    Py_INCREF(tuple);
    place = number;
    used_ = std::max(used_, span.start + 1);
  }

  // Returns the new tuple (start, end), or nullptr with an exception set.
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

  // By start and width: the distance of the tuple from `base_`, in units of 8 bytes; 0 until
  // the span occurs. A pointer would take twice the memory, and so twice the cache lines. A
  // tuple that is too far from the first one is not in the cache.
  std::uint32_t *tuples_ = nullptr;
  std::uint64_t base_ = 0;
  std::uint32_t used_ = 0; // no cached span starts at this offset or after it
};

} // namespace pretok
