// A method of a Python class. Its most frequent calls run no Python bytecode.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

// FastCallMethod(function, attribute, names, defaults, positional) replaces a method of a
// class. `names` are the first parameters of function(self, ...), `defaults` their default
// values, and callers may pass the first `positional` of them by position. A call that passes
// only these parameters becomes self.<attribute>(values of all of them), which must return an
// equal result. Any other call goes to `function`. The first parameter has no default, and must
// be passed by position.
//
// If the class has the attribute in __slots__, the call reads it without a look-up.
void bind_fast_call_method(pybind11::module_ &module);

} // namespace pretok
