// The texts of a batch.
#pragma once

#include "convert.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pretok {

// The tuple keeps the texts alive, whatever becomes of the list meanwhile.
struct Texts {
  // Throws if one is neither str nor bytes.
  explicit Texts(const py::list &texts) : kept(texts) {
    views.reserve(kept.size());
    for (const py::handle text : kept) {
      views.emplace_back(text);
      size += views.back().size();
    }
  }

  py::tuple kept;
  std::vector<TextView> views;
  std::size_t size = 0; // in units
};

// Whether a backend may take these as they are: others need something done first. Bytes are
// usual without `only_str` and `only_ascii`.
inline bool are_all_usual(const py::list &texts, bool only_str, bool only_ascii) {
  return std::all_of(texts.begin(), texts.end(), [&](const py::handle text) {
    PyObject *object = text.ptr();
    return PyUnicode_CheckExact(object)
               ? !only_ascii || PyUnicode_IS_ASCII(object)
               : PyBytes_CheckExact(object) && !only_str && !only_ascii;
  });
}

} // namespace pretok
