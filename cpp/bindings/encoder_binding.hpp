// The native backend of bpe.Tokenizer.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

void bind_encoder(pybind11::module_ &module);

} // namespace pretok
