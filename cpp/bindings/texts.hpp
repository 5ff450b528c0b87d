// The texts of a batch.
#pragma once

#include "bindings/convert.hpp"
#include "bindings/normal_text.hpp"

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

// Returns whether the core can encode all of these texts without work in Python first.
// `only_str` and `only_ascii` exclude bytes, `only_ascii` also other str, `only_normal` text
// not in NFC.
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
  const Texts kept(texts);
  bool all = true;
  unlocked(kept.size,
           [&] { all = std::all_of(kept.views.begin(), kept.views.end(), is_normal); });
  return all;
}

} // namespace pretok
