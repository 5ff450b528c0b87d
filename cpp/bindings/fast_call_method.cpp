#include "bindings/fast_call_method.hpp"

#include <array>
#include <cstddef>

#include <structmember.h>

namespace pretok {
namespace {

struct FastCallMethod {
  PyObject_HEAD vectorcallfunc call;
  PyObject *function;
  PyObject *attribute;
  PyObject *special; // names and values of arguments, interned like names in Python code
  PyObject *raise;
  PyObject *errors;
  PyObject *replace;
};

template <typename Use> int for_each_object(FastCallMethod &method, Use use) {
  for (PyObject **object : {&method.function, &method.attribute, &method.special, &method.raise,
                            &method.errors, &method.replace})
    if (const int stop = use(*object))
      return stop;
  return 0;
}

FastCallMethod *method_of(PyObject *self) { return reinterpret_cast<FastCallMethod *>(self); }

// Returns whether the arguments are only self, text, special and errors. If so, sets `plain` to
// text, special and errors.
bool is_plain(const FastCallMethod &method, PyObject *const *args, std::size_t count,
              PyObject *names, std::array<PyObject *, 3> &plain) {
  if (count != 2 && count != 3)
    return false;
  plain = {args[1], count == 3 ? args[2] : method.raise, method.replace};
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject *name = PyTuple_GET_ITEM(names, i);
    PyObject *value = args[count + static_cast<std::size_t>(i)];
    if (name == method.errors)
      plain[2] = value;
    else if (name == method.special && count == 2)
      plain[1] = value;
    else
      return false;
  }
  return true;
}

PyObject *call_method(PyObject *self, PyObject *const *args, std::size_t flagged,
                      PyObject *names) {
  FastCallMethod &method = *method_of(self);
  const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flagged));
  std::array<PyObject *, 3> plain;
  if (is_plain(method, args, count, names, plain)) {
    PyObject *fast_call = PyObject_GetAttr(args[0], method.attribute);
    if (fast_call != nullptr) {
      PyObject *result = PyObject_Vectorcall(fast_call, plain.data(), plain.size(), nullptr);
      Py_DECREF(fast_call);
      return result;
    }
    PyErr_Clear();
  }
  return PyObject_Vectorcall(method.function, args, flagged, names);
}

PyObject *make(PyTypeObject *type, PyObject *args, PyObject *) {
  PyObject *function = nullptr;
  PyObject *attribute = nullptr;
  if (!PyArg_ParseTuple(args, "OU", &function, &attribute))
    return nullptr;
  PyObject *self = type->tp_alloc(type, 0);
  if (self == nullptr)
    return nullptr;
  FastCallMethod &method = *method_of(self);
  method.call = call_method;
  Py_INCREF(function);
  method.function = function;
  Py_INCREF(attribute);
  PyUnicode_InternInPlace(&attribute);
  method.attribute = attribute;
  method.special = PyUnicode_InternFromString("special");
  method.raise = PyUnicode_InternFromString("raise");
  method.errors = PyUnicode_InternFromString("errors");
  method.replace = PyUnicode_InternFromString("replace");
  if (for_each_object(method, [](PyObject *object) { return object == nullptr; }) != 0) {
    Py_DECREF(self);
    return nullptr;
  }
  return self;
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

PyObject *bind(PyObject *self, PyObject *instance, PyObject *) {
  if (instance == nullptr || instance == Py_None) {
    Py_INCREF(self);
    return self;
  }
  return PyMethod_New(self, instance);
}

// Returns an attribute of the FastCallMethod, or of `function` if the FastCallMethod has none
// of this name. Always takes __doc__ and __module__ from `function`.
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

void bind_fast_call_method(pybind11::module_ &module) {
  static std::array<PyMemberDef, 3> members{
      PyMemberDef{"__vectorcalloffset__", T_PYSSIZET, offsetof(FastCallMethod, call), READONLY,
                  nullptr},
      PyMemberDef{"__wrapped__", T_OBJECT, offsetof(FastCallMethod, function), READONLY,
                  nullptr},
      PyMemberDef{}};
  const auto slot = [](int id, auto *what) {
    return PyType_Slot{id, reinterpret_cast<void *>(what)};
  };
  std::array<PyType_Slot, 11> slots{slot(Py_tp_new, make),
                                    slot(Py_tp_dealloc, dealloc),
                                    slot(Py_tp_traverse, traverse),
                                    slot(Py_tp_clear, clear),
                                    slot(Py_tp_call, PyVectorcall_Call),
                                    slot(Py_tp_descr_get, bind),
                                    slot(Py_tp_getattro, attribute_of),
                                    slot(Py_tp_repr, representation),
                                    slot(Py_tp_members, members.data()),
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
