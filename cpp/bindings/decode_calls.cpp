#include "bindings/decode_calls.hpp"

#include "bindings/convert.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/new_text.hpp"
#include "core/base/prefetch.hpp"

#include <pybind11/numpy.h>
#if PY_VERSION_HEX < 0x030B0000
#include <longintrepr.h>
#endif

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>

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

struct DecodeCalls {
  const Vocabulary *vocabulary;
  std::size_t limit; // the largest id plus one
  // Many programs only encode, so the first call that decodes sets `tokens`.
  std::once_flag once;
  std::optional<TokenBytes> tokens;
  std::vector<bool> special; // by id: whether the token is special
  py::object replace;        // interned, like strings in Python code
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
  Joined(TokenStore tokens, const std::vector<bool> *skipped)
      : tokens_(tokens), skipped_(skipped) {}
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
    const std::vector<bool> *const skipped = skipped_;
    std::uint8_t *to = bytes_ + size_;
    const std::uint8_t *end = bytes_ + capacity_;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t id = id_at(i);
      const TokenView token = tokens.token(id);
      if (token.size == 0)
        return false;
      if (skipped != nullptr && static_cast<std::size_t>(id) < skipped->size() &&
          (*skipped)[static_cast<std::size_t>(id)])
        continue;
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

private:
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
  const std::vector<bool> *skipped_;
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

// Calls finish(joined) if the fast path applies, else the slow function.
template <typename Finish>
PyObject *call_decoder(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *skip,
                       Finish finish) {
  try {
    if (skip == Py_True || skip == Py_False) {
      DecodeCalls &calls = decode_calls_of(self);
      std::call_once(calls.once, [&] { calls.tokens.emplace(*calls.vocabulary, calls.limit); });
      Joined joined(calls.tokens->store(), skip == Py_True ? &calls.special : nullptr);
      if (add_all(args[0], joined))
        return finish(joined);
    }
  } catch (py::error_already_set &error) {
    error.restore();
    return nullptr;
  } catch (const std::bad_alloc &) {
    return PyErr_NoMemory();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
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

} // namespace

py::tuple make_decode_calls(const py::object &owner, const Vocabulary &vocabulary,
                            std::size_t limit, const std::vector<std::uint32_t> &special,
                            const py::tuple &slow_calls) {
  static std::array<PyMethodDef, 2> methods{fast_method<decode>("decode"),
                                            fast_method<decode_bytes>("decode_bytes")};
  auto calls = std::make_unique<DecodeCalls>();
  calls->vocabulary = &vocabulary;
  calls->limit = limit;
  for (const std::uint32_t id : special) {
    if (id >= calls->special.size())
      calls->special.resize(std::size_t{id} + 1);
    calls->special[id] = true;
  }
  calls->replace = interned("replace");
  const py::capsule capsule(calls.release(),
                            [](void *p) { delete static_cast<DecodeCalls *>(p); });
  py::tuple result(methods.size());
  for (std::size_t i = 0; i < methods.size(); ++i)
    result[i] = new_function(methods[i], py::make_tuple(capsule, slow_calls[i], owner));
  return result;
}

} // namespace pretok
