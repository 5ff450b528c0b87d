// A tokenizer that C++ has read from a file, for Python.
#pragma once

#include "formats/load_error.hpp"
#include "formats/tokenizer_spec.hpp"

#include <pybind11/pybind11.h>

#include <memory>

namespace pretok {

// Immutable, so several objects may share the TokenizerSpec.
struct NativeSpec {
  std::shared_ptr<const TokenizerSpec> spec;
};

void bind_native_spec(pybind11::module_ &module);
void bind_json_file(pybind11::module_ &module); // readers of a tokenizer.json

} // namespace pretok
