#include "bindings/direct_calls.hpp"

#include "bindings/convert.hpp"
#include "bindings/fast_method.hpp"

#include "core/unicode/nfc.hpp"

#include <pybind11/numpy.h>

#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <new>

namespace pretok {
namespace {

// Longer texts are worth a look at threads and at the interpreter's lock.
constexpr std::size_t SHORT_TEXT = WORTH_RELEASING;
constexpr std::size_t FEW_IDS = 256;
constexpr std::size_t POLICIES = 3;

// What a function that Python calls has of its own is one object: a tuple of this in a capsule,
// the function for everything else, what makes AddedTokens, and the owner of the encoder.
struct DirectCalls {
  const Encoder *encoder;
  IdObjects *objects;
  bool only_str;
  bool only_ascii;
  bool only_normal;
  std::array<py::object, POLICIES> names; // interned, as are the strings in Python's code
  py::object replace;
  // Made when they are first asked for. What is behind them is in `kept`.
  std::array<std::atomic<const AddedTokens *>, POLICIES> added{};
  py::dict kept;
};

DirectCalls *direct_calls_of(PyObject *self) {
  return static_cast<DirectCalls *>(PyCapsule_GetPointer(PyTuple_GET_ITEM(self, 0), nullptr));
}

// Returns nullptr if `special` is no policy by the names that Python's code has for them.
const AddedTokens *added_of(PyObject *self, PyObject *special) {
  DirectCalls &calls = *direct_calls_of(self);
  for (std::size_t i = 0; i < POLICIES; ++i) {
    if (special != calls.names[i].ptr())
      continue;
    const AddedTokens *found = calls.added[i].load(std::memory_order_acquire);
    if (found == nullptr) {
      const py::handle make(PyTuple_GET_ITEM(self, 2));
      const py::object made =
          calls.kept.attr("setdefault")(calls.names[i], make(calls.names[i]));
      found = &py::cast<const AddedTokens &>(made);
      calls.added[i].store(found, std::memory_order_release);
    }
    return found;
  }
  return nullptr;
}

bool is_usual(const DirectCalls &calls, PyObject *const *args, Py_ssize_t count) {
  // (text, special, errors), or the same and no number of threads.
  if (count != 3 && (count != 4 || args[3] != Py_None))
    return false;
  if (args[2] != calls.replace.ptr())
    return false;
  if (PyUnicode_CheckExact(args[0]))
    return PyUnicode_GET_LENGTH(args[0]) < static_cast<Py_ssize_t>(SHORT_TEXT);
  return PyBytes_CheckExact(args[0]) && !calls.only_str &&
         PyBytes_GET_SIZE(args[0]) < static_cast<Py_ssize_t>(SHORT_TEXT);
}

// As numpy makes it: py::array_t would allocate its shape and its strides first.
PyObject *new_array(const IdBuffer &ids) {
  const py::detail::npy_api &numpy = py::detail::npy_api::get();
  const auto size = static_cast<Py_intptr_t>(ids.size());
  PyObject *array = numpy.PyArray_NewFromDescr_(numpy.PyArray_Type_,
                                                py::dtype::of<std::uint32_t>().release().ptr(),
                                                1, &size, nullptr, nullptr, 0, nullptr);
  if (array == nullptr)
    throw py::error_already_set();
  if (size != 0)
    std::memcpy(py::detail::array_proxy(array)->data, ids.data(),
                ids.size() * sizeof(std::uint32_t));
  return array;
}

// Returns nullptr without an exception if the text is to be handed on.
template <typename Work> PyObject *attempt(PyObject *self, PyObject *const *args, Work work) {
  try {
    DirectCalls &calls = *direct_calls_of(self);
    const AddedTokens *added = added_of(self, args[1]);
    const TextView view(args[0]);
    if (added == nullptr || (calls.only_ascii && !view.is_ascii()))
      return nullptr;
    const CacheLease cache(calls.encoder->caches());
    Scratch scratch;
    return view.with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
      const bool usual = !calls.only_normal || view.is_below_100() || is_nfc(data, size);
      return usual ? work(calls, data, size, *added, *cache) : nullptr;
    });
  } catch (py::error_already_set &error) {
    error.restore();
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

template <typename Work>
PyObject *call_directly(PyObject *self, PyObject *const *args, Py_ssize_t count, Work work) {
  if (is_usual(*direct_calls_of(self), args, count)) {
    PyObject *result = attempt(self, args, work);
    if (result != nullptr || PyErr_Occurred() != nullptr)
      return result;
  }
  return PyObject_Vectorcall(PyTuple_GET_ITEM(self, 1), args, static_cast<std::size_t>(count),
                             nullptr);
}

template <typename Finish>
PyObject *call_for_ids(PyObject *self, PyObject *const *args, Py_ssize_t count, Finish finish) {
  return call_directly(self, args, count,
                       [&](DirectCalls &calls, const std::uint8_t *data, std::size_t size,
                           const AddedTokens &added, PreTokenCache &cache) -> PyObject * {
                         std::array<std::uint32_t, FEW_IDS> few; // not initialized
                         IdBuffer ids(few.data(), few.size());
                         if (calls.encoder->encode(data, size, added, cache, ids).token !=
                             nullptr)
                           return nullptr;
                         return finish(calls, ids);
                       });
}

PyObject *encode(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  return call_for_ids(self, args, count, [](DirectCalls &calls, const IdBuffer &ids) {
    return calls.objects->new_list(ids.data(), ids.size());
  });
}

PyObject *encode_array(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  return call_for_ids(self, args, count,
                      [](DirectCalls &, const IdBuffer &ids) { return new_array(ids); });
}

PyObject *count_ids(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  return call_directly(self, args, count,
                       [](DirectCalls &calls, const std::uint8_t *data, std::size_t size,
                          const AddedTokens &added, PreTokenCache &cache) -> PyObject * {
                         std::size_t found = 0;
                         if (calls.encoder->count(data, size, added, cache, found).token !=
                             nullptr)
                           return nullptr;
                         return PyLong_FromSize_t(found);
                       });
}

} // namespace

py::tuple make_direct_calls(const py::object &owner, const Encoder &encoder, IdObjects &objects,
                            const py::object &added, const py::tuple &others, bool only_str,
                            bool only_ascii, bool only_normal) {
  static std::array<PyMethodDef, 3> methods{fast_method<encode>("encode"),
                                            fast_method<encode_array>("encode_array"),
                                            fast_method<count_ids>("count")};
  auto calls = std::make_unique<DirectCalls>();
  calls->encoder = &encoder;
  calls->objects = &objects;
  calls->only_str = only_str;
  calls->only_ascii = only_ascii;
  calls->only_normal = only_normal;
  calls->names = {interned("raise"), interned("text"), interned("allow")};
  calls->replace = interned("replace");
  const py::capsule capsule(calls.release(),
                            [](void *p) { delete static_cast<DirectCalls *>(p); });
  py::tuple result(methods.size());
  for (std::size_t i = 0; i < methods.size(); ++i)
    result[i] = new_function(methods[i], py::make_tuple(capsule, others[i], added, owner));
  return result;
}

} // namespace pretok
