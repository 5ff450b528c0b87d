// Converts the tokens and merges of a vocabulary to and from Python.
#pragma once

#include "bindings/convert.hpp"
#include "core/bpe/vocabulary_data.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pretok {

// The flags of an array whose items are contiguous and aligned.
inline constexpr int PLAIN_ARRAY = py::array::c_style | py::detail::npy_api::NPY_ARRAY_ALIGNED_;
// NumPy copies other arrays, and lists, only if T holds each value of their type.
template <typename T> using Array = py::array_t<T, PLAIN_ARRAY>;

template <typename T> std::vector<T> as_vector(const Array<T> &values) {
  if (values.ndim() != 1)
    throw py::value_error("expected an array of one dimension");
  return {values.data(), values.data() + values.size()};
}

// Returns a view of each text. `data` has the texts, concatenated. Throws py::value_error if a
// text is empty, or if `data` is too short.
inline std::vector<std::string_view> texts_of(const py::bytes &data,
                                              const Array<std::uint32_t> &lengths) {
  std::string_view rest = view_of(data);
  std::vector<std::string_view> texts;
  texts.reserve(static_cast<std::size_t>(lengths.size()));
  for (const std::uint32_t length : as_vector(lengths)) {
    if (length == 0 || length > rest.size())
      throw py::value_error("a text is empty, or longer than the bytes left");
    texts.push_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return texts;
}

// Returns the merges of an array. Throws py::value_error unless its shape is (n, 3).
inline std::vector<Merge> merges_of(const Array<std::uint32_t> &rows) {
  if (rows.ndim() != 2 || rows.shape(1) != 3)
    throw py::value_error("expected merges of shape (n, 3)");
  std::vector<Merge> merges;
  merges.reserve(static_cast<std::size_t>(rows.size()) / 3);
  const std::uint32_t *at = rows.data();
  for (py::ssize_t i = 0; i + 2 < rows.size(); i += 3)
    merges.push_back({at[i], at[i + 1], at[i + 2]});
  return merges;
}

} // namespace pretok
