// A method of a Python class whose plain calls go past the interpreter.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

// DirectMethod(function, attribute) stands in a class for function(self, text, special="raise",
// *, errors="replace", ...). A call with these arguments only is one of self.<attribute>(text,
// special, errors), which must give the same; any other is one of the function.
void bind_direct_method(pybind11::module_ &module);

} // namespace pretok
