#include "bindings/fast_call_method.hpp"

#include <array>
#include <cstddef>

#include <structmember.h>

namespace pretok {
namespace {

constexpr std::size_t MAX_PARAMETERS = 3;
using PlainCall = std::array<PyObject *, 1 + MAX_PARAMETERS>; // with self

struct FastCallMethod {
  PyObject_HEAD vectorcallfunc call;
  PyObject *function;
  PyObject *attribute;   // the name of the attribute of instances that holds the fast call
  PyObject *fast_call;   // the fast call of all instances, or nullptr
  PyObject *names;       // a tuple of the names of the parameters, interned like names in code
  PyObject *defaults;    // a tuple of the default values of the parameters
  PyObject *explain;     // the function that explains a TypeError, or nullptr
  Py_ssize_t positional; // the number of parameters that callers may pass by position
  // The class of the method if its __slots__ contain `attribute`; else nullptr.
  PyTypeObject *owner;
  Py_ssize_t offset; // the offset of the slot of `attribute` in an instance of `owner`
};

// Calls use(object) for each object that `method` refers to. Stops at a result other than 0,
// and returns it.
template <typename Use> int for_each_object(FastCallMethod &method, Use use) {
  for (PyObject **object :
       {&method.function, &method.attribute, &method.fast_call, &method.names, &method.defaults,
        &method.explain, reinterpret_cast<PyObject **>(&method.owner)})
    if (const int stop = use(*object))
      return stop;
  return 0;
}

FastCallMethod *method_of(PyObject *self) { return reinterpret_cast<FastCallMethod *>(self); }

// Returns whether the call passes only parameters in method.names (after self). If so, sets
// `plain` to self and the values of all these parameters. `args` has `count` positional
// arguments, then the values of the keyword arguments, which have the names `names` (a tuple or
// nullptr).
bool is_plain(const FastCallMethod &method, PyObject *const *args, Py_ssize_t count,
              PyObject *names, PlainCall &plain) {
  const Py_ssize_t by_position = count - 1;
  if (by_position < 1 || by_position > method.positional)
    return false;
  const Py_ssize_t size = PyTuple_GET_SIZE(method.names);
  plain[0] = args[0];
  for (Py_ssize_t i = 0; i < size; ++i)
    plain[static_cast<std::size_t>(1 + i)] =
        i < by_position ? args[1 + i] : PyTuple_GET_ITEM(method.defaults, i);
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < named; ++i) {
    Py_ssize_t at = by_position;
    while (at < size && PyTuple_GET_ITEM(method.names, at) != PyTuple_GET_ITEM(names, i))
      ++at;
    if (at == size)
      return false;
    plain[static_cast<std::size_t>(1 + at)] = args[count + i];
  }
  return true;
}

// Returns a new reference to the fast call of `instance`, or nullptr with an exception set.
PyObject *slot_call(const FastCallMethod &method, PyObject *instance) {
  if (Py_TYPE(instance) == method.owner) {
    PyObject *const value =
        *reinterpret_cast<PyObject **>(reinterpret_cast<char *>(instance) + method.offset);
    if (value != nullptr) {
      Py_INCREF(value);
      return value;
    }
  }
  return PyObject_GetAttr(instance, method.attribute);
}

// Like PyObject_Vectorcall. If `callable` is a fast function (fast_function.hpp), calls its C
// function directly.
PyObject *call_directly(PyObject *callable, PyObject *const *args, Py_ssize_t count) {
  if (PyCFunction_CheckExact(callable) && PyCFunction_GET_FLAGS(callable) == METH_FASTCALL) {
    using Function = PyObject *(*)(PyObject *, PyObject *const *, Py_ssize_t);
    const auto function = reinterpret_cast<Function>(
        reinterpret_cast<void (*)()>(PyCFunction_GET_FUNCTION(callable)));
    return function(PyCFunction_GET_SELF(callable), args, count);
  }
  return PyObject_Vectorcall(callable, args, static_cast<std::size_t>(count), nullptr);
}

// Replaces the current TypeError of a call with the keyword arguments `names` by the result of
// method.explain, unless that is None.
void explain_error(const FastCallMethod &method, PyObject *names) {
  pybind11::error_already_set error;
  PyObject *const better = PyObject_CallOneArg(method.explain, names);
  if (better == nullptr)
    return;
  if (better == Py_None)
    error.restore();
  else
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(better)), better);
  Py_DECREF(better);
}

// Calls a FastCallMethod. This is its vectorcall function: `flagged` is the number of
// positional arguments and a flag bit.
PyObject *call_method(PyObject *self, PyObject *const *args, std::size_t flagged,
                      PyObject *names) {
  const FastCallMethod &method = *method_of(self);
  PlainCall plain;
  if (is_plain(method, args, PyVectorcall_NARGS(flagged), names, plain)) {
    const Py_ssize_t count = PyTuple_GET_SIZE(method.names);
    if (method.fast_call != nullptr) {
      PyObject *result = call_directly(method.fast_call, plain.data(), 1 + count);
      if (result != Py_None)
        return result;
      Py_DECREF(result);
    } else if (PyObject *fast_call = slot_call(method, args[0])) {
      PyObject *result = call_directly(fast_call, plain.data() + 1, count);
      Py_DECREF(fast_call);
      return result;
    } else {
      PyErr_Clear();
    }
  }
  PyObject *result = PyObject_Vectorcall(method.function, args, flagged, names);
  if (result == nullptr && names != nullptr && method.explain != nullptr &&
      PyErr_ExceptionMatches(PyExc_TypeError) != 0)
    explain_error(method, names);
  return result;
}

// Returns a new FastCallMethod. bind_fast_call_method describes the arguments.
PyObject *make(PyTypeObject *type, PyObject *args, PyObject *) {
  PyObject *function = nullptr;
  PyObject *attribute = nullptr;
  PyObject *names = nullptr;
  PyObject *defaults = nullptr;
  PyObject *explain = Py_None;
  Py_ssize_t positional = 0;
  if (!PyArg_ParseTuple(args, "OOO!O!n|O", &function, &attribute, &PyTuple_Type, &names,
                        &PyTuple_Type, &defaults, &positional, &explain))
    return nullptr;
  const bool is_name = PyUnicode_CheckExact(attribute);
  if (!is_name && PyCallable_Check(attribute) == 0) {
    PyErr_SetString(PyExc_TypeError, "expected the name of an attribute, or a function");
    return nullptr;
  }
  const Py_ssize_t size = PyTuple_GET_SIZE(names);
  if (size > static_cast<Py_ssize_t>(MAX_PARAMETERS) || PyTuple_GET_SIZE(defaults) != size ||
      positional > size) {
    PyErr_SetString(PyExc_ValueError,
                    "expected at most 3 names, one default for each name, and "
                    "`positional` at most the number of names");
    return nullptr;
  }
  PyObject *self = type->tp_alloc(type, 0);
  if (self == nullptr)
    return nullptr;
  FastCallMethod &method = *method_of(self);
  method.call = call_method;
  for (PyObject *object : {function, attribute, names, defaults})
    Py_INCREF(object);
  method.function = function;
  if (is_name) {
    PyUnicode_InternInPlace(&attribute);
    method.attribute = attribute;
  } else {
    method.fast_call = attribute;
  }
  method.names = names;
  method.defaults = defaults;
  if (explain != Py_None) {
    Py_INCREF(explain);
    method.explain = explain;
  }
  method.positional = positional;
  return self;
}

// Stores the offset of the slot of `attribute`, for slot_call. Python calls
// __set_name__(owner, name) after it has created the class.
PyObject *set_name(PyObject *self, PyObject *args) {
  PyObject *owner = nullptr;
  PyObject *name = nullptr;
  if (!PyArg_ParseTuple(args, "O!O", &PyType_Type, &owner, &name))
    return nullptr;
#ifndef Py_GIL_DISABLED // without a GIL, another thread may free a value while it is read
  FastCallMethod &method = *method_of(self);
  if (method.attribute == nullptr)
    Py_RETURN_NONE;
  PyObject *const slot = PyObject_GetAttr(owner, method.attribute);
  if (slot == nullptr) {
    PyErr_Clear();
  } else {
    const PyMemberDef *const member =
        Py_TYPE(slot) == &PyMemberDescr_Type
            ? reinterpret_cast<PyMemberDescrObject *>(slot)->d_member
            : nullptr;
    if (member != nullptr && member->type == T_OBJECT_EX && method.owner == nullptr) {
      Py_INCREF(owner);
      method.owner = reinterpret_cast<PyTypeObject *>(owner);
      method.offset = member->offset;
    }
    Py_DECREF(slot);
  }
#endif
  Py_RETURN_NONE;
}

int traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  return for_each_object(*method_of(self), [&](PyObject *object) {
    return object == nullptr ? 0 : visit(object, arg);
  });
}

int clear(PyObject *self) {
  return for_each_object(*method_of(self), [](PyObject *&object) {
    Py_CLEAR(object);
    return 0;
  });
}

void dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// Returns a bound method if there is an instance, else the FastCallMethod itself.
PyObject *bind(PyObject *self, PyObject *instance, PyObject *) {
  if (instance == nullptr || instance == Py_None) {
    Py_INCREF(self);
    return self;
  }
  return PyMethod_New(self, instance);
}

// Returns the attribute `name` of the FastCallMethod. If there is no such attribute, returns
// the attribute of `function`. Always takes __doc__ and __module__ from `function`.
PyObject *attribute_of(PyObject *self, PyObject *name) {
  if (PyUnicode_CompareWithASCIIString(name, "__doc__") != 0 &&
      PyUnicode_CompareWithASCIIString(name, "__module__") != 0) {
    PyObject *own = PyObject_GenericGetAttr(self, name);
    if (own != nullptr || PyErr_ExceptionMatches(PyExc_AttributeError) == 0)
      return own;
    PyErr_Clear();
  }
  return PyObject_GetAttr(method_of(self)->function, name);
}

PyObject *representation(PyObject *self) { return PyObject_Repr(method_of(self)->function); }

} // namespace

pybind11::object fast_call_of(PyObject *bound) {
  PyObject *const function = PyMethod_Check(bound) ? PyMethod_GET_FUNCTION(bound) : nullptr;
  if (function == nullptr || Py_TYPE(function)->tp_descr_get != bind)
    return {};
  const FastCallMethod &method = *method_of(function);
  if (method.attribute == nullptr)
    return {};
  PyObject *const call = slot_call(method, PyMethod_GET_SELF(bound));
  if (call == nullptr)
    PyErr_Clear();
  return pybind11::reinterpret_steal<pybind11::object>(call);
}

void bind_fast_call_method(pybind11::module_ &module) {
  static std::array<PyMemberDef, 3> members{
      PyMemberDef{"__vectorcalloffset__", T_PYSSIZET, offsetof(FastCallMethod, call), READONLY,
                  nullptr},
      PyMemberDef{"__wrapped__", T_OBJECT, offsetof(FastCallMethod, function), READONLY,
                  nullptr},
      PyMemberDef{}};
  static std::array<PyMethodDef, 2> methods{
      PyMethodDef{"__set_name__", set_name, METH_VARARGS, nullptr}, PyMethodDef{}};
  const auto slot = [](int id, auto *what) {
    return PyType_Slot{id, reinterpret_cast<void *>(what)};
  };
  std::array<PyType_Slot, 12> slots{slot(Py_tp_new, make),
                                    slot(Py_tp_dealloc, dealloc),
                                    slot(Py_tp_traverse, traverse),
                                    slot(Py_tp_clear, clear),
                                    slot(Py_tp_call, PyVectorcall_Call),
                                    slot(Py_tp_descr_get, bind),
                                    slot(Py_tp_getattro, attribute_of),
                                    slot(Py_tp_repr, representation),
                                    slot(Py_tp_members, members.data()),
                                    slot(Py_tp_methods, methods.data()),
                                    PyType_Slot{0, nullptr}};
  PyType_Spec spec{"pretok._core.FastCallMethod", sizeof(FastCallMethod), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                       Py_TPFLAGS_METHOD_DESCRIPTOR,
                   slots.data()};
  const auto type = pybind11::reinterpret_steal<pybind11::object>(PyType_FromSpec(&spec));
  if (!type)
    throw pybind11::error_already_set();
  module.add_object("FastCallMethod", type);
}

} // namespace pretok
