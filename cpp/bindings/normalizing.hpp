// Makes the normalizers of core/normalize callable from Python.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

void bind_normalizing(pybind11::module_ &module);

} // namespace pretok
