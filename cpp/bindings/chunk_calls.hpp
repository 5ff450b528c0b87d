// Divides texts by a number of ids, for bpe/budgets/.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

// Adds the classes Chunks and PairProofs, and the functions token_ends and utf8_of.
void bind_chunks(pybind11::module_ &module);

} // namespace pretok
