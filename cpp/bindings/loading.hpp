// Makes the readers of vocabulary files callable from Python.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

void bind_loading(pybind11::module_ &module);
void bind_piece_loading(pybind11::module_ &module); // for tokens that are text

} // namespace pretok
