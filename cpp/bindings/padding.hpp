// Arranges the ids of many texts in one array for bpe.encoding.padded.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

void bind_padding(pybind11::module_ &module);

} // namespace pretok
