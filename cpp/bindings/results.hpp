// Converts the results of encoding to Python objects.
#pragma once

#include "bindings/convert.hpp"

#include "core/threads/encode_texts.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

namespace pretok {

// Throws a Python SpecialTokenError if a text contains a refused special token. `text_index` is
// the index of the text in a batch, or None.
inline void raise_if_refused(const Refusal &refusal, py::object text_index) {
  if (refusal.token == nullptr)
    return;
  const py::object type = py::module_::import("bpe.errors").attr("SpecialTokenError");
  const py::object error =
      type(py::str(refusal.token->content), refusal.position, std::move(text_index));
  PyErr_SetObject(type.ptr(), error.ptr());
  throw py::error_already_set();
}

inline bool is_not_refused(const EncodeResult &encoded) {
  return encoded.refusal.token == nullptr;
}

// Returns a NumPy array that owns the memory of `ids`.
inline py::array_t<std::uint32_t> as_array_of_ids(IdBuffer &&ids) {
  const auto size = static_cast<py::ssize_t>(ids.size());
  if (size == 0)
    return py::array_t<std::uint32_t>(0);
  ids.fit();
  std::unique_ptr<std::uint32_t, void (*)(void *)> owned(ids.release(), &std::free);
  const py::capsule owner(owned.get(), [](void *p) { std::free(p); });
  return py::array_t<std::uint32_t>(size, owned.release(), owner);
}

} // namespace pretok
