#include "bindings/decode_calls.hpp"

#include "bindings/convert.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/guarded.hpp"
#include "bindings/joined_tokens.hpp"
#include "bindings/new_text.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace pretok {
namespace {

struct DecodeCalls {
  const Vocabulary *vocabulary = nullptr;
  std::size_t limit = 0; // the largest id plus one
  // Many programs only encode, so the first call that decodes sets `tokens`.
  std::once_flag once;
  std::optional<TokenBytes> made;
  std::atomic<const TokenBytes *> tokens{nullptr}; // `made`, once it is built
  IdSet special;
  py::object replace; // interned, like strings in Python code
};

DecodeCalls &decode_calls_of(PyObject *self) {
  return *static_cast<DecodeCalls *>(PyCapsule_GetPointer(PyTuple_GET_ITEM(self, 0), nullptr));
}

// Returns the store of all tokens. Tests the atomic pointer first, because loading it is faster
// than calling std::call_once.
TokenStore token_store(DecodeCalls &calls) {
  if (calls.tokens.load(std::memory_order_acquire) == nullptr)
    std::call_once(calls.once, [&] {
      calls.tokens.store(&calls.made.emplace(*calls.vocabulary, calls.limit),
                         std::memory_order_release);
    });
  return calls.tokens.load(std::memory_order_relaxed)->store();
}

// Returns finish(joined) if the fast path can decode the ids args[0]. Otherwise returns the
// result of the slow function. `skip` is the argument of the same name, or nullptr if the other
// arguments need the slow function.
template <typename Finish>
PyObject *call_decoder(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *skip,
                       Finish finish) {
  if (skip == Py_True || skip == Py_False) {
    PyObject *result = guarded([&]() -> PyObject * {
      DecodeCalls &calls = decode_calls_of(self);
      Joined joined(token_store(calls), skip == Py_True ? &calls.special : nullptr, nullptr);
      return add_all(args[0], joined) ? finish(joined) : nullptr;
    });
    if (result != nullptr || PyErr_Occurred() != nullptr)
      return result;
  }
  return PyObject_Vectorcall(PyTuple_GET_ITEM(self, 1), args, static_cast<std::size_t>(count),
                             nullptr);
}

// Returns the error handler's name `errors` as a C string. Returns nullptr if `errors` is not a
// str, has no UTF-8, or contains a null character.
const char *handler(PyObject *self, PyObject *errors) {
  if (errors == decode_calls_of(self).replace.ptr())
    return "replace";
  Py_ssize_t size = 0;
  const char *name =
      PyUnicode_CheckExact(errors) ? PyUnicode_AsUTF8AndSize(errors, &size) : nullptr;
  PyErr_Clear();
  return name != nullptr && std::strlen(name) == static_cast<std::size_t>(size) ? name
                                                                                : nullptr;
}

PyObject *decode(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  const char *errors = count == 3 ? handler(self, args[1]) : nullptr;
  return call_decoder(self, args, count, errors != nullptr ? args[2] : nullptr,
                      [errors](const Joined &joined) {
                        return new_text(joined.data(), joined.size(), errors);
                      });
}

PyObject *decode_bytes(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  return call_decoder(
      self, args, count, count == 2 ? args[1] : nullptr, [](const Joined &joined) {
        return PyBytes_FromStringAndSize(reinterpret_cast<const char *>(joined.data()),
                                         static_cast<Py_ssize_t>(joined.size()));
      });
}

} // namespace

py::tuple make_decode_calls(const py::object &owner, const Vocabulary &vocabulary,
                            std::size_t limit, const std::vector<std::uint32_t> &special,
                            const py::tuple &slow_calls) {
  static std::array<PyMethodDef, 2> methods{fast_method<decode>("decode"),
                                            fast_method<decode_bytes>("decode_bytes")};
  if (slow_calls.size() != methods.size())
    throw py::value_error("expected two slow calls");
  auto calls = std::make_unique<DecodeCalls>();
  calls->vocabulary = &vocabulary;
  calls->limit = limit;
  calls->special = IdSet(special);
  calls->replace = interned("replace");
  const py::capsule capsule = owning_capsule(std::move(calls));
  py::tuple result(methods.size());
  for (std::size_t i = 0; i < methods.size(); ++i)
    result[i] = new_function(methods[i], py::make_tuple(capsule, slow_calls[i], owner));
  return result;
}

} // namespace pretok
