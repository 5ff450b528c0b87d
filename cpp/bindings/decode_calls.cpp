#include "bindings/decode_calls.hpp"

#include "bindings/convert.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/new_text.hpp"
#include "core/base/prefetch.hpp"
#include "core/unicode/utf8.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#if PY_VERSION_HEX < 0x030B0000
#include <longintrepr.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <tuple>

namespace pretok {
namespace {

constexpr int PLAIN_ARRAY = py::array::c_style | py::detail::npy_api::NPY_ARRAY_ALIGNED_;

// A view of the bytes of all tokens and of their positions. Copies share the memory.
struct TokenStore {
  const std::uint32_t *starts; // by id: the start in `bytes`, and the end of the previous token
  std::size_t limit;           // the largest id plus one
  const std::uint8_t *bytes;

  // Returns an empty view if `id` is not the id of a token.
  TokenView token(std::int64_t id) const {
    if (static_cast<std::uint64_t>(id) >= limit)
      return {};
    return {bytes + starts[id], starts[id + 1] - starts[id]};
  }
};

// The bytes of all tokens in the order of their ids.
class TokenBytes {
public:
  // `ids` ascend.
  TokenBytes(const char *bytes, const std::vector<std::uint32_t> &lengths,
             const std::vector<std::uint32_t> &ids) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      starts_.resize(std::size_t{ids[i]} + 1, static_cast<std::uint32_t>(sum));
      sum += lengths[i];
      if (sum > UINT32_MAX - PADDING)
        throw std::length_error("the tokens have 4 GiB or more in total; expected less");
    }
    starts_.push_back(static_cast<std::uint32_t>(sum));
    bytes_.assign(bytes, bytes + sum);
    bytes_.resize(static_cast<std::size_t>(sum) + PADDING);
  }

  TokenBytes(const Vocabulary &vocabulary, std::size_t limit) {
    starts_.reserve(limit + 1);
    std::uint64_t sum = 0;
    for (std::size_t id = 0; id < limit; ++id)
      sum += vocabulary.token(static_cast<std::uint32_t>(id)).size;
    if (sum > UINT32_MAX - PADDING)
      throw std::length_error("the tokens have 4 GiB or more in total; expected less");
    const auto size = static_cast<std::size_t>(sum);
    bytes_.reserve(size + PADDING);
    for (std::size_t id = 0; id < limit; ++id) {
      const TokenView token = vocabulary.token(static_cast<std::uint32_t>(id));
      starts_.push_back(static_cast<std::uint32_t>(bytes_.size()));
      bytes_.insert(bytes_.end(), token.bytes, token.bytes + token.size);
    }
    starts_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    bytes_.resize(size + PADDING);
  }

  // The number of bytes in `bytes_` after the last token. So code may read PADDING bytes from
  // the start of any token.
  static constexpr std::size_t PADDING = 16;

  TokenStore store() const { return {starts_.data(), starts_.size() - 1, bytes_.data()}; }

private:
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint8_t> bytes_;
};

// A set of ids.
class IdSet {
public:
  IdSet() = default;
  explicit IdSet(const std::vector<std::uint32_t> &ids) {
    for (const std::uint32_t id : ids) {
      if (id >= has_.size())
        has_.resize(std::size_t{id} + 1);
      has_[id] = true;
    }
  }
  bool has(std::int64_t id) const {
    return static_cast<std::uint64_t>(id) < has_.size() && has_[static_cast<std::size_t>(id)];
  }

private:
  std::vector<bool> has_;
};

// The texts of tokens, for make_text_decode_calls.
struct TokenTexts {
  TokenBytes tokens;
  IdSet empty;
  std::optional<IdSet> spaced;
  std::size_t start;
  std::size_t stop;
  bool repeats;
};

struct DecodeCalls {
  ~DecodeCalls() { delete texts.load(); }

  const Vocabulary *vocabulary = nullptr; // nullptr: tokens have texts
  std::size_t limit = 0;                  // the largest id plus one
  // Many programs only encode, so the first call that decodes sets `tokens` or `texts`.
  std::once_flag once;
  std::optional<TokenBytes> made;
  std::atomic<const TokenBytes *> tokens{nullptr}; // `made`, once it is built
  std::atomic<const TokenTexts *> texts{nullptr};
  IdSet special;
  py::object replace; // interned, like strings in Python code
};

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

// A buffer for the concatenated bytes of tokens.
class Joined {
public:
  // `skipped` are the ids to omit, and `empty` those of tokens without text; nullptr: none.
  Joined(TokenStore tokens, const IdSet *skipped, const IdSet *empty)
      : tokens_(tokens), skipped_(skipped), empty_(empty) {}
  Joined(const Joined &) = delete;
  Joined &operator=(const Joined &) = delete;
  ~Joined() {
    if (bytes_ != local_.data())
      std::free(bytes_);
  }

  // Adds the tokens of `count` ids. Returns false if an id has no token. Throws std::bad_alloc.
  template <typename IdAt> bool add_all(std::size_t count, IdAt id_at) {
    if (count * BYTES_PER_TOKEN > capacity_ - size_)
      grow(size_ + count * BYTES_PER_TOKEN);
    // Copy the members to locals. The compiler would reload a member after each store of a
    // byte, since the byte may be part of the member.
    const TokenStore tokens = tokens_;
    const IdSet *const skipped = skipped_;
    std::uint8_t *to = bytes_ + size_;
    const std::uint8_t *end = bytes_ + capacity_;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t id = id_at(i);
      const TokenView token = tokens.token(id);
      if (token.size == 0 && (empty_ == nullptr || !empty_->has(id)))
        return false;
      if (skipped != nullptr && skipped->has(id))
        continue;
      if (token.size == 0) {
        // This token ends a character of fallback bytes that is not complete.
        if (!ends_character(bytes_, to))
          return false;
        continue;
      }
      if (to == bytes_)
        first_ = id;
      if (static_cast<std::size_t>(end - to) < token.size + TokenBytes::PADDING) {
        size_ = static_cast<std::size_t>(to - bytes_);
        grow(size_ + token.size + TokenBytes::PADDING);
        to = bytes_ + size_;
        end = bytes_ + capacity_;
      }
      // Always copy PADDING bytes first: nearly all tokens are at most that long, and a copy of
      // constant size is fast.
      std::memcpy(to, token.bytes, TokenBytes::PADDING);
      if (token.size > TokenBytes::PADDING)
        std::memcpy(to + TokenBytes::PADDING, token.bytes + TokenBytes::PADDING,
                    token.size - TokenBytes::PADDING);
      to += token.size;
    }
    size_ = static_cast<std::size_t>(to - bytes_);
    return true;
  }

  const std::uint8_t *data() const { return bytes_; }
  std::size_t size() const { return size_; }
  // Returns the id of the first token with text.
  std::int64_t first() const { return first_; }

private:
  // Returns whether the bytes end in ASCII, or in a sequence of UTF-8 of the length that its
  // lead says.
  static bool ends_character(const std::uint8_t *begin, const std::uint8_t *end) {
    std::size_t tails = 0;
    for (; end != begin && tails < 4; ++tails)
      if (!is_tail(*--end))
        break;
    const std::uint8_t lead = tails == 4 || (end == begin && is_tail(*begin)) ? 0xFF : *end;
    const std::size_t expected = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    return tails == expected && lead < 0xF8;
  }

  static constexpr std::size_t BYTES_PER_TOKEN = 5; // a little more than the average

  void grow(std::size_t min_capacity) {
    const std::size_t capacity = std::max(min_capacity, capacity_ + capacity_ / 2);
    const bool is_local = bytes_ == local_.data();
    void *larger = std::realloc(is_local ? nullptr : bytes_, capacity);
    if (larger == nullptr)
      throw std::bad_alloc();
    if (is_local)
      std::memcpy(larger, bytes_, size_);
    bytes_ = static_cast<std::uint8_t *>(larger);
    capacity_ = capacity;
  }

  TokenStore tokens_;
  const IdSet *skipped_;
  const IdSet *empty_;
  std::int64_t first_ = -1;
  std::array<std::uint8_t, 1024> local_; // not initialized
  std::uint8_t *bytes_ = local_.data();
  std::size_t size_ = 0;
  std::size_t capacity_ = local_.size();
};

// The number of items between the current item and the item to prefetch. Prefetching pays
// because the ints of a list are scattered in memory.
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

// Adds the tokens of `ids` to `joined`. Returns false if the slow function must handle the
// call.
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

DecodeCalls &decode_calls_of(PyObject *self) {
  return *static_cast<DecodeCalls *>(PyCapsule_GetPointer(PyTuple_GET_ITEM(self, 0), nullptr));
}

// Returns the store of all tokens. A load is faster than std::call_once.
TokenStore token_store(DecodeCalls &calls) {
  if (calls.tokens.load(std::memory_order_acquire) == nullptr)
    std::call_once(calls.once, [&] {
      calls.tokens.store(&calls.made.emplace(*calls.vocabulary, calls.limit),
                         std::memory_order_release);
    });
  return calls.tokens.load(std::memory_order_relaxed)->store();
}

// Returns work(); its exceptions become Python errors.
template <typename Work> PyObject *guarded(Work work) {
  try {
    return work();
  } catch (py::error_already_set &error) {
    error.restore();
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

// Calls finish(joined) if the fast path applies, else the slow function.
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

// Returns `errors` as a C string. Returns nullptr if `errors` is not a str, or not valid as a C
// string.
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

const TokenTexts &texts_of(PyObject *self) {
  DecodeCalls &calls = decode_calls_of(self);
  if (const TokenTexts *texts = calls.texts.load(std::memory_order_acquire))
    return *texts;
  using Ids = std::vector<std::uint32_t>;
  const py::object made = py::handle(PyTuple_GET_ITEM(self, 2))();
  const auto [bytes, lengths, ids, spaced, start, stop, repeats] = py::cast<
      std::tuple<py::bytes, Ids, Ids, std::optional<Ids>, std::size_t, std::size_t, bool>>(
      made);
  Ids empty;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (lengths[i] == 0)
      empty.push_back(ids[i]);
  auto texts = std::make_unique<const TokenTexts>(TokenTexts{
      TokenBytes(PyBytes_AS_STRING(bytes.ptr()), lengths, ids), IdSet(empty),
      spaced ? std::optional<IdSet>(IdSet(*spaced)) : std::nullopt, start, stop, repeats});
  // If another thread has just stored its object, keep that one.
  const TokenTexts *current = nullptr;
  if (calls.texts.compare_exchange_strong(current, texts.get()))
    return *texts.release();
  return *current;
}

// Removes spaces at the ends of [first, last). Returns false if the slow function must do it.
bool strip(const TokenTexts &texts, const Joined &joined, const std::uint8_t *&first,
           const std::uint8_t *&last) {
  std::size_t start = texts.start;
  if (texts.spaced && first != last && *first == ' ') {
    start = texts.spaced->has(joined.first()) ? start : 0;
    // The next token may lose a space too.
    if (start != 0 && texts.repeats && texts.tokens.store().token(joined.first()).size == 1)
      return false;
  }
  for (; start != 0 && first != last && *first == ' '; --start)
    ++first;
  for (std::size_t i = 0; i < texts.stop && first != last && last[-1] == ' '; ++i)
    --last;
  return true;
}

// Returns nullptr without an exception if the slow function must handle the call.
PyObject *try_texts(PyObject *self, PyObject *ids, bool skip) {
  const TokenTexts &texts = texts_of(self);
  Joined joined(texts.tokens.store(), skip ? &decode_calls_of(self).special : nullptr,
                &texts.empty);
  if (!add_all(ids, joined))
    return nullptr;
  const std::uint8_t *first = joined.data();
  const std::uint8_t *last = first + joined.size();
  if (!strip(texts, joined, first, last))
    return nullptr;
  PyObject *text = new_text(first, static_cast<std::size_t>(last - first), "strict");
  // Fallback tokens with invalid bytes.
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

py::tuple make_decode_calls(const py::object &owner, const Vocabulary &vocabulary,
                            std::size_t limit, const std::vector<std::uint32_t> &special,
                            const py::tuple &slow_calls) {
  static std::array<PyMethodDef, 2> methods{fast_method<decode>("decode"),
                                            fast_method<decode_bytes>("decode_bytes")};
  auto calls = std::make_unique<DecodeCalls>();
  calls->vocabulary = &vocabulary;
  calls->limit = limit;
  calls->special = IdSet(special);
  calls->replace = interned("replace");
  const py::capsule capsule(calls.release(),
                            [](void *p) { delete static_cast<DecodeCalls *>(p); });
  py::tuple result(methods.size());
  for (std::size_t i = 0; i < methods.size(); ++i)
    result[i] = new_function(methods[i], py::make_tuple(capsule, slow_calls[i], owner));
  return result;
}

py::object make_text_decode_call(const py::object &make_texts,
                                 const std::vector<std::uint32_t> &special,
                                 const py::object &slow_call) {
  static PyMethodDef method = fast_method<decode_texts>("decode");
  auto calls = std::make_unique<DecodeCalls>();
  calls->special = IdSet(special);
  const py::capsule capsule(calls.release(),
                            [](void *p) { delete static_cast<DecodeCalls *>(p); });
  return new_function(method, py::make_tuple(capsule, slow_call, make_texts));
}

} // namespace pretok
