// Added tokens of the native backend of bpe.Tokenizer.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

void bind_added(pybind11::module_ &module);

} // namespace pretok
