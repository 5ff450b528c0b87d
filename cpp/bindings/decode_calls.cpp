#include "bindings/decode_calls.hpp"

#include "bindings/convert.hpp"
#include "bindings/fast_function.hpp"
#include "bindings/joined_tokens.hpp"
#include "bindings/new_text.hpp"

#include <pybind11/stl.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace pretok {
namespace {

// Many programs only encode, so the first call that decodes makes `tokens`.
struct DecodeCalls {
  const DeferredTokenizer *tokenizers = nullptr;
  std::size_t limit = 0; // the largest id plus one
  IdSet special;
  py::object replace = interned("replace");
  MadeAtFirstUse<TokenBytes> tokens;
};

// Returns finish(joined), or nullptr if the slow function must decode the ids. `skip` is the
// argument of the same name.
template <typename Finish>
PyObject *join(DecodeCalls &calls, PyObject *ids, PyObject *skip, Finish finish) {
  if (skip != Py_True && skip != Py_False)
    return nullptr;
  const TokenBytes &tokens = calls.tokens.get(
      [&] { return TokenBytes(calls.tokenizers->current()->vocabulary(), calls.limit); });
  Joined joined(tokens.store(), skip == Py_True ? &calls.special : nullptr, nullptr);
  return add_all(ids, joined) ? finish(joined) : nullptr;
}

// Returns the error handler's name `errors` as a C string. Returns nullptr if `errors` is not a
// str, has no UTF-8, or contains a null character.
const char *handler(const DecodeCalls &calls, PyObject *errors) {
  if (errors == calls.replace.ptr())
    return "replace";
  Py_ssize_t size = 0;
  const char *name =
      PyUnicode_CheckExact(errors) ? PyUnicode_AsUTF8AndSize(errors, &size) : nullptr;
  PyErr_Clear();
  return name != nullptr && std::strlen(name) == static_cast<std::size_t>(size) ? name
                                                                                : nullptr;
}

PyObject *decode(DecodeCalls &calls, const Arguments &args) {
  const char *errors = args.count == 3 ? handler(calls, args[1]) : nullptr;
  if (errors == nullptr)
    return nullptr;
  return join(calls, args[0], args[2], [errors](const Joined &joined) {
    return new_text(joined.data(), joined.size(), errors);
  });
}

PyObject *decode_bytes(DecodeCalls &calls, const Arguments &args) {
  if (args.count != 2)
    return nullptr;
  return join(calls, args[0], args[1], [](const Joined &joined) {
    return PyBytes_FromStringAndSize(reinterpret_cast<const char *>(joined.data()),
                                     static_cast<Py_ssize_t>(joined.size()));
  });
}

// The result of make_texts(), which decode_calls.hpp describes.
struct TokenTexts {
  TokenBytes tokens;
  IdSet empty; // the ids of tokens that have no bytes
  std::optional<IdSet> spaced;
  std::size_t start;
  std::size_t stop;
  bool repeats;
};

struct TextDecodeCall {
  PyObject *make_texts; // borrowed: the function keeps it alive
  IdSet special;
  MadeAtFirstUse<TokenTexts> texts;
};

TokenTexts call_make_texts(PyObject *make_texts) {
  using Ids = std::vector<std::uint32_t>;
  const py::object made = py::handle(make_texts)();
  const auto [bytes, lengths, ids, spaced, start, stop, repeats] = cast_argument<
      std::tuple<py::bytes, Ids, Ids, std::optional<Ids>, std::size_t, std::size_t, bool>>(
      made, "the texts of tokens (bytes, lengths, ids, spaced, start, stop, repeats)");
  TokenBytes tokens(std::string_view(bytes), lengths, ids);
  Ids empty;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (lengths[i] == 0)
      empty.push_back(ids[i]);
  return {std::move(tokens),
          IdSet(empty),
          spaced ? std::optional<IdSet>(IdSet(*spaced)) : std::nullopt,
          start,
          stop,
          repeats};
}

// Removes the spaces to strip from both ends of [first, last), the bytes of `joined`. Returns
// false if the slow function must decode the ids.
bool strip(const TokenTexts &texts, const Joined &joined, const std::uint8_t *&first,
           const std::uint8_t *&last) {
  std::size_t start = texts.start;
  if (texts.spaced && first != last && *first == ' ') {
    start = texts.spaced->has(joined.first()) ? start : 0;
    // If the first token is only a space, and `repeats` is true, the next token may lose a
    // space too. Only the slow function handles this case.
    if (start != 0 && texts.repeats && texts.tokens.store().token(joined.first()).size == 1)
      return false;
  }
  for (; start != 0 && first != last && *first == ' '; --start)
    ++first;
  for (std::size_t i = 0; i < texts.stop && first != last && last[-1] == ' '; ++i)
    --last;
  return true;
}

PyObject *decode_texts(TextDecodeCall &call, const Arguments &args) {
  if (args.count != 3 || !PyUnicode_CheckExact(args[1]) || !PyBool_Check(args[2]))
    return nullptr;
  const TokenTexts &texts = call.texts.get([&] { return call_make_texts(call.make_texts); });
  Joined joined(texts.tokens.store(), args[2] == Py_True ? &call.special : nullptr,
                &texts.empty);
  if (!add_all(args[0], joined))
    return nullptr;
  const std::uint8_t *first = joined.data();
  const std::uint8_t *last = first + joined.size();
  if (!strip(texts, joined, first, last))
    return nullptr;
  PyObject *text = new_text(first, static_cast<std::size_t>(last - first), "strict");
  // The bytes of fallback tokens may be invalid UTF-8. The slow function handles invalid bytes.
  if (text == nullptr && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError) != 0)
    PyErr_Clear();
  return text;
}

} // namespace

py::tuple make_decode_calls(const py::object &owner, const DeferredTokenizer &tokenizers,
                            std::size_t limit, const std::vector<std::uint32_t> &special,
                            const py::tuple &slow_calls) {
  if (slow_calls.size() != 2)
    throw py::value_error("expected two slow calls");
  auto calls = std::make_unique<DecodeCalls>();
  calls->tokenizers = &tokenizers;
  calls->limit = limit;
  calls->special = IdSet(special);
  const FastFunctions<DecodeCalls> functions(std::move(calls), owner);
  return py::make_tuple(functions.make<decode>("decode", slow_calls[0]),
                        functions.make<decode_bytes>("decode_bytes", slow_calls[1]));
}

py::object make_text_decode_call(const py::object &make_texts,
                                 const std::vector<std::uint32_t> &special,
                                 const py::object &slow_call) {
  auto call = std::make_unique<TextDecodeCall>();
  call->make_texts = make_texts.ptr();
  call->special = IdSet(special);
  return FastFunctions<TextDecodeCall>(std::move(call), make_texts)
      .make<decode_texts>("decode", slow_call);
}

} // namespace pretok
