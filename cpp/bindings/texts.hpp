// Collects the texts of a batch, and checks whether the core can encode them directly.
#pragma once

#include "bindings/convert.hpp"
#include "bindings/normal_text.hpp"

#include <algorithm>
#include <cstddef>
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

// Returns whether the core can encode all texts without prior work in Python. `only_str`
// rejects bytes. `only_ascii` rejects bytes and non-ASCII str. `only_normal` rejects text that
// is not in NFC.
inline bool all_take_fast_path(const py::list &texts, bool only_str, bool only_ascii,
                               bool only_normal) {
  const auto takes_fast_path = [&](const py::handle text) {
    PyObject *object = text.ptr();
    return PyUnicode_CheckExact(object)
               ? !only_ascii || PyUnicode_IS_ASCII(object)
               : PyBytes_CheckExact(object) && !only_str && !only_ascii;
  };
  if (!std::all_of(texts.begin(), texts.end(), takes_fast_path))
    return false;
  if (!only_normal)
    return true;
  const Texts batch(texts);
  bool are_all_normal = true;
  unlocked(batch.size, [&] {
    are_all_normal = std::all_of(batch.views.begin(), batch.views.end(), is_normal);
  });
  return are_all_normal;
}

} // namespace pretok
