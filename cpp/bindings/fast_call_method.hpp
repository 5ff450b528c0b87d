// A type of methods of Python classes whose most frequent calls run no Python bytecode.
#pragma once

#include <pybind11/pybind11.h>

namespace pretok {

// Adds the type FastCallMethod to `module`.
//
// FastCallMethod(function, attribute, names, defaults, positional, explain=None) replaces
// `function`, a method of a class. `names` are the names of its first parameters after self,
// and `defaults` are their default values. The first parameter must be passed by position, so
// its name and its default are ignored. Callers may pass the first `positional` parameters by
// position.
//
// A call that passes only these parameters becomes self.<attribute>(values of all these
// parameters). That call must return a result equal to the result of `function`. Any other call
// goes to `function`, and so does a call if `self` lacks the attribute. If the class names the
// attribute in __slots__, FastCallMethod reads it without a look-up.
//
// `attribute` may also be a function instead of a name. Then such a call becomes
// attribute(self, values of all these parameters). It goes to `function` if the result is None.
//
// If a call of `function` with keyword arguments raises TypeError, explain(names of these
// arguments) returns the exception to raise instead, or None.
void bind_fast_call_method(pybind11::module_ &module);

// Returns the attribute that a call of `bound`, a bound FastCallMethod, calls. Returns a null
// object if `bound` is any other object.
pybind11::object fast_call_of(PyObject *bound);

} // namespace pretok
