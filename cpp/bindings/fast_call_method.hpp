// A method of a Python class. Its most frequent calls run no Python bytecode.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

// FastCallMethod(function, attribute) replaces the method function(self, text, special="raise",
// *, errors="replace", ...) of a class. A call with only these arguments becomes
// self.<attribute>(text, special, errors), which must return an equal result. Any other call
// goes to `function`.
void bind_fast_call_method(pybind11::module_ &module);

} // namespace pretok
