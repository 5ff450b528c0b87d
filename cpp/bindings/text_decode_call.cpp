#include "bindings/text_decode_call.hpp"

#include "bindings/convert.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/guarded.hpp"
#include "bindings/joined_tokens.hpp"
#include "bindings/new_text.hpp"

#include <pybind11/stl.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace pretok {
namespace {

// The result of make_texts(), which text_decode_call.hpp describes.
struct TokenTexts {
  TokenBytes tokens;
  IdSet empty; // the ids of tokens that have no bytes
  std::optional<IdSet> spaced;
  std::size_t start;
  std::size_t stop;
  bool repeats;
};

struct TextDecodeCall {
  ~TextDecodeCall() { delete texts.load(); }

  // Many programs only encode, so the first call that decodes sets `texts`.
  std::atomic<const TokenTexts *> texts{nullptr};
  IdSet special;
};

TextDecodeCall &text_call_of(PyObject *self) {
  return *static_cast<TextDecodeCall *>(
      PyCapsule_GetPointer(PyTuple_GET_ITEM(self, 0), nullptr));
}

// Returns the stored texts. Calls make_texts() if there are none yet.
const TokenTexts &texts_of(PyObject *self) {
  TextDecodeCall &calls = text_call_of(self);
  if (const TokenTexts *texts = calls.texts.load(std::memory_order_acquire))
    return *texts;
  using Ids = std::vector<std::uint32_t>;
  const py::object made = py::handle(PyTuple_GET_ITEM(self, 2))();
  const auto [bytes, lengths, ids, spaced, start, stop, repeats] = cast_argument<
      std::tuple<py::bytes, Ids, Ids, std::optional<Ids>, std::size_t, std::size_t, bool>>(
      made, "the texts of tokens (bytes, lengths, ids, spaced, start, stop, repeats)");
  TokenBytes tokens(std::string_view(bytes), lengths, ids);
  Ids empty;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (lengths[i] == 0)
      empty.push_back(ids[i]);
  auto texts = std::make_unique<const TokenTexts>(TokenTexts{
      std::move(tokens), IdSet(empty),
      spaced ? std::optional<IdSet>(IdSet(*spaced)) : std::nullopt, start, stop, repeats});
  // If another thread has stored its object in the meantime, return that object.
  const TokenTexts *current = nullptr;
  if (calls.texts.compare_exchange_strong(current, texts.get()))
    return *texts.release();
  return *current;
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

// Returns the text of `ids`. Returns nullptr without an exception if the slow function must
// decode the ids.
PyObject *try_texts(PyObject *self, PyObject *ids, bool skip) {
  const TokenTexts &texts = texts_of(self);
  Joined joined(texts.tokens.store(), skip ? &text_call_of(self).special : nullptr,
                &texts.empty);
  if (!add_all(ids, joined))
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

PyObject *decode_texts(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  if (count == 3 && PyUnicode_CheckExact(args[1]) &&
      (args[2] == Py_True || args[2] == Py_False)) {
    PyObject *text = guarded([&] { return try_texts(self, args[0], args[2] == Py_True); });
    if (text != nullptr || PyErr_Occurred() != nullptr)
      return text;
  }
  return PyObject_Vectorcall(PyTuple_GET_ITEM(self, 1), args, static_cast<std::size_t>(count),
                             nullptr);
}

} // namespace

py::object make_text_decode_call(const py::object &make_texts,
                                 const std::vector<std::uint32_t> &special,
                                 const py::object &slow_call) {
  static PyMethodDef method = fast_method<decode_texts>("decode");
  auto calls = std::make_unique<TextDecodeCall>();
  calls->special = IdSet(special);
  const py::capsule capsule = owning_capsule(std::move(calls));
  return new_function(method, py::make_tuple(capsule, slow_call, make_texts));
}

} // namespace pretok
