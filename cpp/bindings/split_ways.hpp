// Finds the ways to split a text, for bpe/canonical/.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

// Adds the class SplitFinder.
void bind_split_ways(pybind11::module_ &module);

} // namespace pretok
