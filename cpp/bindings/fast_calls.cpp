#include "bindings/fast_calls.hpp"

#include "bindings/convert.hpp"
#include "bindings/fast_function.hpp"
#include "bindings/stack_ids.hpp"
#include "core/base/made_at_first_use.hpp"

#include <pybind11/numpy.h>

#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace pretok {
namespace {

// For texts of this size or more, the slow functions may release the GIL and use threads.
constexpr std::size_t MAX_FAST_SIZE = MIN_SIZE_TO_RELEASE;
constexpr std::size_t POLICIES = 4; // a policy is a value of the argument `special`

// The state that the fast functions of one tokenizer share.
struct FastCalls {
  FastCalls(const DeferredTokenizer &deferred, IdObjects &id_objects)
      : tokenizers(deferred), objects(id_objects) {}

  const DeferredTokenizer &tokenizers;
  IdObjects &objects;
  PyObject *make_added = nullptr; // borrowed: the functions keep it alive
  bool only_str = false;
  bool only_ascii = false;
  std::array<py::object, POLICIES> names; // of policies; interned, like literals in Python code
  py::object replace;                     // the str "replace", interned
  std::array<MadeAtFirstUse<AddedTokenPhases>, POLICIES> added; // by policy
};

// The added tokens of a call, and the Python object that has them, if no member of FastCalls
// does. `tokens` is nullptr if the fast path cannot take the policy.
struct FoundAdded {
  const AddedTokenPhases *tokens = nullptr;
  py::object owner;
};

// Returns the added tokens for the policy `special`, which is an interned name or a set.
FoundAdded find_added(FastCalls &calls, PyObject *special) {
  const auto tokens_of = [](const py::object &made) -> const AddedTokenPhases & {
    return cast_argument<const AddedTokenPhases &>(made, "AddedTokens");
  };
  for (std::size_t i = 0; i < POLICIES; ++i)
    if (special == calls.names[i].ptr())
      return {&calls.added[i].get([&] {
                return std::make_unique<const AddedTokenPhases>(
                    tokens_of(py::handle(calls.make_added)(calls.names[i])));
              }),
              {}};
  if (!PyAnySet_CheckExact(special))
    return {};
  py::object made = py::handle(calls.make_added)(py::handle(special));
  const AddedTokenPhases &tokens = tokens_of(made);
  return {&tokens, std::move(made)};
}

bool is_fast_text(const FastCalls &calls, PyObject *text) {
  if (PyUnicode_CheckExact(text))
    return PyUnicode_GET_LENGTH(text) < static_cast<Py_ssize_t>(MAX_FAST_SIZE);
  return PyBytes_CheckExact(text) && !calls.only_str &&
         PyBytes_GET_SIZE(text) < static_cast<Py_ssize_t>(MAX_FAST_SIZE);
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
  bool is_normal; // a quick test has shown that the normalizer keeps the text
};

// Returns work(tokenizer, text, added, cache). Returns nullptr without an exception if the slow
// function must handle the call.
template <typename Work>
PyObject *with_text(FastCalls &calls, PyObject *text, PyObject *special, Work work) {
  if (!is_fast_text(calls, text))
    return nullptr;
  const FoundAdded added = find_added(calls, special);
  const TextView view(text);
  if (added.tokens == nullptr || (calls.only_ascii && !view.is_ascii()))
    return nullptr;
  const DeferredTokenizer::Lease tokenizer = calls.tokenizers.for_text(view.size());
  const CacheLease cache(tokenizer->caches());
  // Such a text is in NFC.
  const bool is_normal = view.is_below_100() && tokenizer->normalizer() == Normalizer::NFC;
  Scratch scratch;
  return view.with_utf8(scratch, [&](const std::uint8_t *data, std::size_t size) {
    return work(*tokenizer, Utf8View{data, size, is_normal}, *added.tokens, *cache);
  });
}

// The same for a call with the arguments (text, special, errors), (text, special, errors,
// threads) or (text, special, errors, threads, continuation).
template <typename Work> PyObject *answer(FastCalls &calls, const Arguments &args, Work work) {
  if (args.count < 3 || args.count > 5 || args[2] != calls.replace.ptr() ||
      (args.count > 3 && args[3] != Py_None) || (args.count > 4 && args[4] != Py_False))
    return nullptr;
  return with_text(calls, args[0], args[1], work);
}

// Returns a function for with_text that encodes the text, and returns finish(ids).
template <typename Finish> auto for_ids(Finish finish) {
  return [finish](const Tokenizer &tokenizer, const Utf8View &text,
                  const AddedTokenPhases &added, PreTokenCache &cache) -> PyObject * {
    StackIds ids;
    const Refusal refusal =
        text.is_normal
            ? tokenizer.encoder().encode(text.data, text.size, added.all, cache, ids.buffer)
            : tokenizer.encode(text.data, text.size, added, cache, ids.buffer);
    return refusal.token == nullptr ? finish(ids.buffer) : nullptr;
  };
}

PyObject *encode(FastCalls &calls, const Arguments &args) {
  return answer(calls, args, for_ids([&](const IdBuffer &ids) {
                  return calls.objects.as_list(ids.data(), ids.size()).release().ptr();
                }));
}

PyObject *encode_array(FastCalls &calls, const Arguments &args) {
  return answer(calls, args, for_ids(new_array));
}

PyObject *count_ids(FastCalls &calls, const Arguments &args) {
  return answer(calls, args,
                [](const Tokenizer &tokenizer, const Utf8View &text,
                   const AddedTokenPhases &added, PreTokenCache &cache) -> PyObject * {
                  std::size_t result = 0;
                  const Refusal refusal =
                      text.is_normal
                          ? tokenizer.encoder().count(text.data, text.size, added.all, cache,
                                                      result)
                          : tokenizer.count(text.data, text.size, added, cache, result);
                  return refusal.token == nullptr ? PyLong_FromSize_t(result) : nullptr;
                });
}

} // namespace

py::tuple make_fast_calls(const py::object &owner, const DeferredTokenizer &tokenizers,
                          IdObjects &objects, const py::object &make_added,
                          const py::tuple &slow_calls, bool only_str, bool only_ascii) {
  if (slow_calls.size() != 3)
    throw py::value_error("expected three slow calls");
  auto calls = std::make_unique<FastCalls>(tokenizers, objects);
  calls->make_added = make_added.ptr();
  calls->only_str = only_str;
  calls->only_ascii = only_ascii;
  calls->names = {interned("raise"), interned("text"), interned("allow"), interned("plain")};
  calls->replace = interned("replace");
  const FastFunctions<FastCalls> functions(std::move(calls), py::make_tuple(make_added, owner));
  return py::make_tuple(functions.make<encode>("encode", slow_calls[0]),
                        functions.make<encode_array>("encode_array", slow_calls[1]),
                        functions.make<count_ids>("count", slow_calls[2]));
}

py::object encode_between(PyObject *function, PyObject *text, PyObject *special,
                          PyObject *before, PyObject *after) {
  FastCalls *const calls = FastFunctions<FastCalls>::state_of<encode>(function);
  if (calls == nullptr)
    return {};
  return py::reinterpret_steal<py::object>(
      with_text(*calls, text, special, for_ids([&](const IdBuffer &ids) {
        const auto before_size = static_cast<std::size_t>(PyList_GET_SIZE(before));
        const auto after_size = static_cast<std::size_t>(PyList_GET_SIZE(after));
        NewList result(before_size + ids.size() + after_size);
        result.add_all(before, before_size);
        calls->objects.add_to(result, ids.data(), ids.size());
        result.add_all(after, after_size);
        return result.take().release().ptr();
      })));
}

} // namespace pretok
