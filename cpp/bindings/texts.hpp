// Collects the texts of a batch, and checks whether C++ can encode them without Python code.
#pragma once

#include "bindings/convert.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// The texts of a batch. `owners` keeps each text alive even if the caller changes the list.
struct Texts {
  // Throws if a text is neither str nor bytes.
  explicit Texts(const py::list &texts) : owners(texts) {
    views.reserve(owners.size());
    for (const py::handle text : owners) {
      views.emplace_back(text);
      size += views.back().size();
    }
  }

  py::tuple owners;
  std::vector<TextView> views;
  std::size_t size = 0; // the total number of code units of all texts
};

// The bytes of an object with the buffer protocol. They are valid while the Buffer exists.
class Buffer {
public:
  explicit Buffer(const py::object &object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0)
      throw py::error_already_set();
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  const std::uint8_t *data() const { return static_cast<const std::uint8_t *>(view_.buf); }
  std::size_t size() const { return static_cast<std::size_t>(view_.len); }

private:
  Py_buffer view_;
};

// Returns views of the count - 1 texts data[offsets[i]..offsets[i + 1]). Throws if an offset is
// below the previous offset, or outside the data.
inline std::vector<TextView> packed_texts(const Buffer &data, const std::int64_t *offsets,
                                          std::size_t count) {
  std::vector<TextView> views;
  if (count == 0)
    return views;
  views.reserve(count - 1);
  for (std::size_t i = 0; i != count - 1; ++i) {
    if (offsets[i] < 0 || offsets[i] > offsets[i + 1] ||
        static_cast<std::uint64_t>(offsets[i + 1]) > data.size())
      throw py::value_error(
          "expected ascending offsets, each between 0 and the size of the data");
    views.emplace_back(data.data() + offsets[i],
                       static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
  }
  return views;
}

// Returns whether C++ can encode all texts without prior work in Python. All texts must be str
// or bytes. `only_str` rejects bytes. `only_ascii` rejects bytes and non-ASCII str.
inline bool all_take_fast_path(const py::list &texts, bool only_str, bool only_ascii) {
  const auto takes_fast_path = [&](const py::handle text) {
    PyObject *object = text.ptr();
    return PyUnicode_CheckExact(object)
               ? !only_ascii || PyUnicode_IS_ASCII(object)
               : PyBytes_CheckExact(object) && !only_str && !only_ascii;
  };
  return std::all_of(texts.begin(), texts.end(), takes_fast_path);
}

} // namespace pretok
