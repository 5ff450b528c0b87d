#include "bindings/fast_calls.hpp"

#include "bindings/convert.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/guarded.hpp"
#include "bindings/stack_ids.hpp"

#include <pybind11/numpy.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <utility>

namespace pretok {
namespace {

// For texts of this size or more, the slow functions may release the GIL and use threads.
constexpr std::size_t MAX_FAST_SIZE = MIN_SIZE_TO_RELEASE;
constexpr std::size_t POLICIES = 3; // a policy is a value of the argument `special`

// The state that the fast functions of one tokenizer share. Python passes each function a tuple
// as `self`: a capsule with this struct, the slow function, the function that makes
// AddedTokens, and the owner of the encoder.
struct FastCalls {
  FastCalls(const Encoder &encoder, Normalizer normalizer, IdObjects &id_objects)
      : tokenizer(encoder, normalizer), objects(id_objects) {}
  FastCalls(const FastCalls &) = delete;
  FastCalls &operator=(const FastCalls &) = delete;
  ~FastCalls() {
    for (const auto &phases : added)
      delete phases.load();
  }

  const Tokenizer tokenizer;
  IdObjects &objects;
  bool only_str = false;
  bool only_ascii = false;
  std::array<py::object, POLICIES> names; // of policies; interned, like literals in Python code
  py::object replace;                     // the str "replace", interned
  // The added tokens for each policy. The first call with a policy sets the element.
  std::array<std::atomic<const AddedTokenPhases *>, POLICIES> added{};
};

FastCalls &fast_calls_of(PyObject *self) {
  return *static_cast<FastCalls *>(PyCapsule_GetPointer(PyTuple_GET_ITEM(self, 0), nullptr));
}

// Makes and stores the added tokens for a policy. Returns the stored object.
const AddedTokenPhases *make_added(PyObject *self, FastCalls &calls, std::size_t policy) {
  const py::handle make(PyTuple_GET_ITEM(self, 2));
  const py::object tokens = make(calls.names[policy]);
  auto phases = std::make_unique<const AddedTokenPhases>(
      cast_argument<const AddedTokens &>(tokens, "AddedTokens"));
  const AddedTokenPhases *current = nullptr;
  // If another thread has stored its object first, calls may already use that object. So keep
  // that object, and delete `phases`.
  if (calls.added[policy].compare_exchange_strong(current, phases.get()))
    return phases.release();
  return current;
}

// Returns the added tokens for the policy with the interned name `special`. Returns nullptr if
// `special` is any other object.
const AddedTokenPhases *find_added(PyObject *self, FastCalls &calls, PyObject *special) {
  for (std::size_t i = 0; i < POLICIES; ++i) {
    if (special != calls.names[i].ptr())
      continue;
    const AddedTokenPhases *phases = calls.added[i].load(std::memory_order_acquire);
    return phases != nullptr ? phases : make_added(self, calls, i);
  }
  return nullptr;
}

bool is_fast_text(const FastCalls &calls, PyObject *text) {
  if (PyUnicode_CheckExact(text))
    return PyUnicode_GET_LENGTH(text) < static_cast<Py_ssize_t>(MAX_FAST_SIZE);
  return PyBytes_CheckExact(text) && !calls.only_str &&
         PyBytes_GET_SIZE(text) < static_cast<Py_ssize_t>(MAX_FAST_SIZE);
}

bool takes_fast_path(const FastCalls &calls, PyObject *const *args, Py_ssize_t count) {
  // The arguments are (text, special, errors) or (text, special, errors, threads).
  if (count != 3 && (count != 4 || args[3] != Py_None))
    return false;
  return args[2] == calls.replace.ptr() && is_fast_text(calls, args[0]);
}

// Returns an array of the ids. Calls NumPy directly, since py::array_t would allocate memory
// for a shape and strides.
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

struct Utf8View {
  const std::uint8_t *data;
  std::size_t size;
  bool is_below_100; // each code point is below U+0100, so the text is in NFC
};

// Returns the result of work(calls, text, added, cache). Returns nullptr without an exception
// if the slow function must handle the call.
template <typename Work>
PyObject *try_call(PyObject *self, FastCalls &calls, PyObject *const *args, Work work) {
  return guarded([&]() -> PyObject * {
    const AddedTokenPhases *added = find_added(self, calls, args[1]);
    const TextView view(args[0]);
    if (added == nullptr || (calls.only_ascii && !view.is_ascii()))
      return nullptr;
    const CacheLease cache(calls.tokenizer.encoder().caches());
    Scratch scratch;
    return view.with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
      return work(calls, Utf8View{data, size, view.is_below_100()}, *added, *cache);
    });
  });
}

// Returns the result of try_call, or that of the slow function.
template <typename Work>
PyObject *call_fast(PyObject *self, PyObject *const *args, Py_ssize_t count, Work work) {
  FastCalls &calls = fast_calls_of(self);
  if (takes_fast_path(calls, args, count)) {
    PyObject *result = try_call(self, calls, args, work);
    if (result != nullptr || PyErr_Occurred() != nullptr)
      return result;
  }
  return PyObject_Vectorcall(PyTuple_GET_ITEM(self, 1), args, static_cast<std::size_t>(count),
                             nullptr);
}

// Returns a function for try_call that encodes the text, and returns finish(calls, ids).
template <typename Finish> auto for_ids(Finish finish) {
  return [finish](FastCalls &calls, const Utf8View &text, const AddedTokenPhases &added,
                  PreTokenCache &cache) -> PyObject * {
    StackIds ids;
    const Tokenizer &tokenizer = calls.tokenizer;
    const Refusal refusal =
        text.is_below_100
            ? tokenizer.encode_normalized(text.data, text.size, added, cache, ids.buffer)
            : tokenizer.encode(text.data, text.size, added, cache, ids.buffer);
    return refusal.token == nullptr ? finish(calls, ids.buffer) : nullptr;
  };
}

PyObject *encode(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  return call_fast(self, args, count, for_ids([](FastCalls &calls, const IdBuffer &ids) {
                     return calls.objects.as_list(ids.data(), ids.size()).release().ptr();
                   }));
}

PyObject *encode_array(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  return call_fast(self, args, count,
                   for_ids([](FastCalls &, const IdBuffer &ids) { return new_array(ids); }));
}

PyObject *count_ids(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  return call_fast(self, args, count,
                   [](FastCalls &calls, const Utf8View &text, const AddedTokenPhases &added,
                      PreTokenCache &cache) -> PyObject * {
                     std::size_t result = 0;
                     const Tokenizer &tokenizer = calls.tokenizer;
                     const Refusal refusal =
                         text.is_below_100
                             ? tokenizer.count_normalized(text.data, text.size, added, cache,
                                                          result)
                             : tokenizer.count(text.data, text.size, added, cache, result);
                     return refusal.token == nullptr ? PyLong_FromSize_t(result) : nullptr;
                   });
}

} // namespace

py::tuple make_fast_calls(const py::object &owner, const Encoder &encoder, IdObjects &objects,
                          const py::object &make_added, const py::tuple &slow_calls,
                          bool only_str, bool only_ascii, Normalizer normalizer) {
  static std::array<PyMethodDef, 3> methods{fast_method<encode>("encode"),
                                            fast_method<encode_array>("encode_array"),
                                            fast_method<count_ids>("count")};
  if (slow_calls.size() != methods.size())
    throw py::value_error("expected three slow calls");
  auto calls = std::make_unique<FastCalls>(encoder, normalizer, objects);
  calls->only_str = only_str;
  calls->only_ascii = only_ascii;
  calls->names = {interned("raise"), interned("text"), interned("allow")};
  calls->replace = interned("replace");
  const py::capsule capsule = owning_capsule(std::move(calls));
  py::tuple result(methods.size());
  for (std::size_t i = 0; i < methods.size(); ++i)
    result[i] =
        new_function(methods[i], py::make_tuple(capsule, slow_calls[i], make_added, owner));
  return result;
}

py::object encode_between(PyObject *function, PyObject *text, PyObject *special,
                          PyObject *before, PyObject *after) {
  if (!is_fast_method<encode>(function))
    return {};
  PyObject *const self = PyCFunction_GET_SELF(function);
  FastCalls &calls = fast_calls_of(self);
  if (!is_fast_text(calls, text))
    return {};
  const std::array<PyObject *, 2> args{text, special};
  PyObject *const list =
      try_call(self, calls, args.data(), for_ids([&](FastCalls &, const IdBuffer &ids) {
                 const auto before_size = static_cast<std::size_t>(PyList_GET_SIZE(before));
                 const auto after_size = static_cast<std::size_t>(PyList_GET_SIZE(after));
                 NewList result(before_size + ids.size() + after_size);
                 result.add_all(before, before_size);
                 calls.objects.add_to(result, ids.data(), ids.size());
                 result.add_all(after, after_size);
                 return result.take().release().ptr();
               }));
  if (list == nullptr && PyErr_Occurred() != nullptr)
    throw py::error_already_set();
  return py::reinterpret_steal<py::object>(list);
}

} // namespace pretok
