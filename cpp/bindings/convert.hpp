// Converts Python texts to views for the core, and results of the core to NumPy arrays.
#pragma once

#include "core/base/byte_view.hpp"
#include "core/base/scratch.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/split/sources.hpp"
#include "core/split/text.hpp"
#include "core/unicode/nfc.hpp"
#include "core/utf/write_utf8.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pretok {

namespace py = pybind11;

// For texts with fewer code units, releasing the GIL costs more time than other threads gain.
inline constexpr std::size_t MIN_SIZE_TO_RELEASE = 4096;

// A view of a str or bytes object. Python stores a str in code units of 1, 2 or 4 bytes. The
// object must outlive the view. Constructing a view needs the GIL; using the view does not.
class TextView {
public:
  explicit TextView(py::handle text) {
    PyObject *object = text.ptr();
    if (PyBytes_Check(object)) {
      data_ = PyBytes_AS_STRING(object);
      size_ = static_cast<std::size_t>(PyBytes_GET_SIZE(object));
      utf8_ = as<std::uint8_t>();
      utf8_size_ = size_;
      return;
    }
    if (!PyUnicode_Check(object))
      throw py::type_error("expected str or bytes");
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(object) != 0)
      throw py::error_already_set();
#endif
    data_ = PyUnicode_DATA(object);
    size_ = static_cast<std::size_t>(PyUnicode_GET_LENGTH(object));
    width_ = static_cast<int>(PyUnicode_KIND(object));
    if (PyUnicode_IS_ASCII(object)) {
      utf8_ = as<std::uint8_t>();
      utf8_size_ = size_;
    }
#ifndef Py_GIL_DISABLED
    // `utf8` is the UTF-8 that Python has cached for this str, or nullptr. Free-threaded Python
    // must not read it here, because another thread may set it at the same time.
    else if (PyUnicode_IS_COMPACT(object)) {
      const auto *compact = reinterpret_cast<const PyCompactUnicodeObject *>(object);
      utf8_ = reinterpret_cast<const std::uint8_t *>(compact->utf8);
      utf8_size_ = static_cast<std::size_t>(compact->utf8_length);
    }
#endif
  }

  // A view of UTF-8 that is not in a Python object.
  TextView(const std::uint8_t *data, std::size_t size)
      : data_(data), size_(size), utf8_(data), utf8_size_(size) {}

  bool is_ascii() const { return width_ == 1 && is_utf8(); }

  // Returns whether Python stores the str with 1 byte per code point: all code points are below
  // U+0100.
  bool is_below_100() const { return width_ == 1; }

  // Returns true only if a quick test shows that the text is in NFC. The test covers only strs
  // of 2 or 4 bytes per code unit. (is_below_100() covers strs of 1 byte, which are all in
  // NFC.)
  bool is_surely_nfc() const {
    return width_ == 2   ? pretok::is_surely_nfc(as<std::uint16_t>(), size_)
           : width_ == 4 ? pretok::is_surely_nfc(as<std::uint32_t>(), size_)
                         : false;
  }

  // Returns the number of code units: the code points of a str, or the bytes of UTF-8.
  std::size_t size() const { return size_; }

  // Returns whether a str has a surrogate. Python cannot encode such a str as UTF-8, so a str
  // with cached UTF-8 has none.
  bool has_surrogate() const {
    return utf8_ == nullptr &&
           (width_ == 2   ? pretok::has_surrogate(as<std::uint16_t>(), size_)
            : width_ == 4 ? pretok::has_surrogate(as<std::uint32_t>(), size_)
                          : false);
  }

  // Calls use(source) with a Utf8 or CodePoints object that views the text.
  template <typename Use> auto with_source(const ClassTable &classes, Use use) const {
    switch (width_) {
    case 0:
      return use(Utf8(as<std::uint8_t>(), size_, classes));
    case 1:
      return use(CodePoints<std::uint8_t>(as<std::uint8_t>(), size_, classes));
    case 2:
      return use(CodePoints<std::uint16_t>(as<std::uint16_t>(), size_, classes));
    default:
      return use(CodePoints<std::uint32_t>(as<std::uint32_t>(), size_, classes));
    }
  }

  // Calls use(data, size) with the text as UTF-8. Writes the UTF-8 to `scratch` if it does not
  // exist yet.
  template <typename Use> auto with_utf8(Scratch &scratch, Use use) const {
    if (utf8_ != nullptr)
      return use(utf8_, utf8_size_);
    switch (width_) {
    case 1:
      return convert_to_utf8<std::uint8_t>(scratch, use);
    case 2:
      return convert_to_utf8<std::uint16_t>(scratch, use);
    default:
      return convert_to_utf8<std::uint32_t>(scratch, use);
    }
  }

  // TextTasks calls the following functions. Positions and sizes are in code units, except
  // `bytes`. units_in(bytes) is the smallest number of units that take `bytes` bytes of UTF-8
  // or more. whole(at) moves a position between two surrogates of a pair to the start of the
  // pair.
  TextView part(std::size_t start, std::size_t end) const {
    TextView result = *this;
    result.data_ = as<char>() + start * static_cast<std::size_t>(width_ == 0 ? 1 : width_);
    result.size_ = end - start;
    result.utf8_ = is_utf8() ? result.as<std::uint8_t>() : nullptr;
    result.utf8_size_ = result.size_;
    return result;
  }
  std::size_t utf8_size() const { return measured(UNLIMITED).bytes; }
  std::size_t units_in(std::size_t bytes) const { return measured(bytes).units; }
  std::size_t whole(std::size_t at) const {
    const bool within = width_ == 2   ? is_within_pair(as<std::uint16_t>(), size_, at)
                        : width_ == 4 ? is_within_pair(as<std::uint32_t>(), size_, at)
                                      : false;
    return within ? at - 1 : at;
  }

private:
  // Returns whether the code units are bytes of UTF-8.
  bool is_utf8() const { return utf8_ == data_; }

  template <typename Unit, typename Use> auto convert_to_utf8(Scratch &scratch, Use use) const {
    std::uint8_t *first = scratch.room(size_ * MAX_UTF8<Unit>);
    const std::uint8_t *last = write_utf8(as<Unit>(), size_, first);
    return use(const_cast<const std::uint8_t *>(first), static_cast<std::size_t>(last - first));
  }

  template <typename Unit> const Unit *as() const { return static_cast<const Unit *>(data_); }

  Measured measured(std::size_t bytes) const {
    if (is_utf8())
      return {std::min(size_, bytes), std::min(size_, bytes)};
    return width_ == 1   ? measure_utf8(as<std::uint8_t>(), size_, bytes)
           : width_ == 2 ? measure_utf8(as<std::uint16_t>(), size_, bytes)
                         : measure_utf8(as<std::uint32_t>(), size_, bytes);
  }

  const void *data_;
  std::size_t size_;
  const std::uint8_t *utf8_ = nullptr; // nullptr: the UTF-8 does not exist yet
  std::size_t utf8_size_ = 0;
  int width_ = 0; // bytes per code unit of a str; 0: the object is bytes
};

// Returns a new reference as an object. Throws the Python error if there is none.
inline py::object owned(PyObject *object) {
  if (object == nullptr)
    throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

// Return views of a bytes object, which must outlive them.
inline ByteView bytes_of(const py::bytes &object) {
  return {reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(object.ptr())),
          static_cast<std::size_t>(PyBytes_GET_SIZE(object.ptr()))};
}
inline std::string_view view_of(const py::bytes &object) {
  const ByteView bytes = bytes_of(object);
  return {reinterpret_cast<const char *>(bytes.data), bytes.size};
}

inline py::bytes as_bytes(const std::vector<std::uint8_t> &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// Returns `object` as a T. Throws py::type_error if it is not one; `expected` says what T is.
template <typename T> T cast_argument(py::handle object, const char *expected) {
  try {
    return py::cast<T>(object);
  } catch (const py::cast_error &) {
    throw py::type_error(std::string("expected ") + expected + ", got " +
                         Py_TYPE(object.ptr())->tp_name);
  }
}

// Returns a function that calls a method without arguments. pybind11 would pass nullptr to the
// method itself if `self` is None.
template <typename Class, typename Result> auto on_self(Result (Class::*method)() const) {
  return [method](const Class &self) { return (self.*method)(); };
}
template <typename Class, typename Result> auto on_self(Result (Class::*method)()) {
  return [method](Class &self) { return (self.*method)(); };
}

// Returns a capsule that owns `object`.
template <typename T> py::capsule owning_capsule(std::unique_ptr<T> object) {
  py::capsule capsule(object.get(), [](void *p) { delete static_cast<T *>(p); });
  static_cast<void>(object.release()); // only now: making the capsule may throw
  return capsule;
}

// Returns work(). Releases the GIL during the work if `size` is at least MIN_SIZE_TO_RELEASE.
template <typename Work> auto unlocked(std::size_t size, Work work) {
  std::optional<py::gil_scoped_release> released;
  if (size >= MIN_SIZE_TO_RELEASE)
    released.emplace();
  return work();
}

// Returns a NumPy array that owns `values`. Does not copy the elements.
template <typename T, typename Allocator>
py::array_t<T> as_array(std::vector<T, Allocator> &&values) {
  using Values = std::vector<T, Allocator>;
  auto owned = std::make_unique<Values>(std::move(values));
  const auto size = static_cast<py::ssize_t>(owned->size());
  const T *const data = owned->data();
  return py::array_t<T>(size, data, owning_capsule(std::move(owned)));
}

// Returns an array of merges, one merge per row.
inline py::array_t<std::uint32_t> as_rows(const std::vector<Merge> &merges) {
  py::array_t<std::uint32_t> result({static_cast<py::ssize_t>(merges.size()), py::ssize_t{3}});
  std::uint32_t *to = result.mutable_data();
  for (const Merge &merge : merges)
    for (const std::uint32_t id : {merge.left, merge.right, merge.id})
      *to++ = id;
  return result;
}

} // namespace pretok
