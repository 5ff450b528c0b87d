#include "bindings/joined_tokens.hpp"

#include "bindings/convert.hpp"
#include "bindings/packed_tokens.hpp"
#include "core/base/prefetch.hpp"

#include <pybind11/numpy.h>
#if PY_VERSION_HEX < 0x030B0000
#include <longintrepr.h>
#endif

namespace pretok {
namespace {

// Returns the value of a small non-negative int, or a negative number for any other object.
std::int64_t small_value(PyObject *object) {
  if (!PyLong_CheckExact(object))
    return -1;
#if PY_VERSION_HEX >= 0x030C0000
  auto *number = reinterpret_cast<PyLongObject *>(object);
  return PyUnstable_Long_IsCompact(number) ? PyUnstable_Long_CompactValue(number) : -1;
#else
  const Py_ssize_t digits = Py_SIZE(object);
  if (digits == 0)
    return 0;
  return digits == 1 ? std::int64_t{reinterpret_cast<PyLongObject *>(object)->ob_digit[0]} : -1;
#endif
}

// The number of items between the current item and the item to prefetch. Prefetching is worth
// its cost because the ints of a list are scattered in memory.
constexpr std::size_t AHEAD = 24;

bool add_items(PyObject *const *items, std::size_t count, Joined &joined) {
  return joined.add_all(count, [items, count](std::size_t i) {
    if (i + AHEAD < count)
      prefetch(items[i + AHEAD]);
    return small_value(items[i]);
  });
}

template <typename Id> bool add_array(const py::array &ids, Joined &joined) {
  const auto *at = static_cast<const Id *>(ids.data());
  const auto size = static_cast<std::size_t>(ids.size());
  bool known = true;
  unlocked(size, [&] {
    known =
        joined.add_all(size, [at](std::size_t i) { return static_cast<std::int64_t>(at[i]); });
  });
  return known;
}

} // namespace

bool add_all(PyObject *ids, Joined &joined) {
#ifndef Py_GIL_DISABLED
  // add_items runs no Python code, so nothing changes the list during the call.
  if (PyList_CheckExact(ids))
    return add_items(PySequence_Fast_ITEMS(ids), static_cast<std::size_t>(PyList_GET_SIZE(ids)),
                     joined);
#else
  if (PyList_CheckExact(ids)) {
    const auto copy = py::reinterpret_steal<py::tuple>(PyList_AsTuple(ids));
    if (!copy)
      throw py::error_already_set();
    return add_items(PySequence_Fast_ITEMS(copy.ptr()), copy.size(), joined);
  }
#endif
  if (PyTuple_CheckExact(ids))
    return add_items(PySequence_Fast_ITEMS(ids),
                     static_cast<std::size_t>(PyTuple_GET_SIZE(ids)), joined);
  if (!py::isinstance<py::array>(ids))
    return false;
  const auto array = py::reinterpret_borrow<py::array>(ids);
  if (array.ndim() != 1 || (array.flags() & PLAIN_ARRAY) != PLAIN_ARRAY)
    return false;
  if (py::isinstance<py::array_t<std::uint32_t>>(array))
    return add_array<std::uint32_t>(array, joined);
  if (py::isinstance<py::array_t<std::int64_t>>(array))
    return add_array<std::int64_t>(array, joined);
  if (py::isinstance<py::array_t<std::int32_t>>(array))
    return add_array<std::int32_t>(array, joined);
  return false;
}

} // namespace pretok
