// What training takes from C++: counting pre-tokens, finding merges, cutting long texts.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

void bind_training(pybind11::module_ &module);

} // namespace pretok
