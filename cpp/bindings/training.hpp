// The Python bindings for training: count pre-tokens, learn merges, and split long texts.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

void bind_training(pybind11::module_ &module);

} // namespace pretok
