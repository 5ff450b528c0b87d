#include "bindings/bind.hpp"

#include "bindings/chat_text.hpp"
#include "bindings/fast_function.hpp"

#include <cstddef>
#include <memory>

namespace pretok {
namespace {

struct ValueCalls {
  // FastFunctions keeps these objects alive.
  PyTypeObject *text_type;
  PyTypeObject *origin_type;
  PyObject *fields_type;
  PyObject *items_type;
  PyObject *convert_object;
  PyObject *plain_key;
  PyObject *origin_of;
  PyObject *roles;
  PyObject *shared_names;
  PyObject *aliases;
  TextCalls names{text_type};
  py::object raw = interned("_raw");
  py::object own_path = interned("_path");
  py::object role = interned("role");
  py::object messages = interned("messages");
  py::tuple messages_path = py::make_tuple(messages);
  py::tuple nothing = py::tuple(0);
};

py::object longer_path(PyObject *path, PyObject *name) {
  return owned(PySequence_Concat(path, owned(PyTuple_Pack(1, name)).ptr()));
}

py::object text_at(const ValueCalls &calls, PyObject *text, PyObject *path) {
  const py::object origin =
      owned(calls.origin_type->tp_new(calls.origin_type, calls.nothing.ptr(), nullptr));
  assign(origin, calls.names.path, path);
  return traced_text(calls.names, text, origin.ptr());
}

void set_place(const ValueCalls &calls, const py::object &made, PyObject *path, PyObject *raw) {
  assign(made, calls.own_path, path);
  assign(made, calls.raw, raw);
}

py::object converted(const ValueCalls &calls, PyObject *value, PyObject *path);

py::object converted_dict(const ValueCalls &calls, PyObject *dict, PyObject *path) {
  py::object fields = owned(PyObject_CallNoArgs(calls.fields_type));
  PyObject *name = nullptr;
  PyObject *value = nullptr;
  for (Py_ssize_t place = 0; PyDict_Next(dict, &place, &name, &value) != 0;) {
    const auto kept_value = py::reinterpret_borrow<py::object>(value);
    const py::object known =
        PyUnicode_CheckExact(name)
            ? py::reinterpret_borrow<py::object>(name)
            : owned(PyObject_CallFunctionObjArgs(calls.plain_key, name, nullptr));
    const py::object item = converted(calls, value, longer_path(path, known.ptr()).ptr());
    if (PyDict_SetItem(fields.ptr(), known.ptr(), item.ptr()) != 0)
      throw py::error_already_set();
  }
  set_place(calls, fields, path, dict);
  return fields;
}

py::object converted_list(const ValueCalls &calls, PyObject *list, PyObject *path) {
  py::object items = owned(PyObject_CallNoArgs(calls.items_type));
  for (Py_ssize_t at = 0; at < PyList_GET_SIZE(list); ++at) {
    const auto value = py::reinterpret_borrow<py::object>(PyList_GET_ITEM(list, at));
    const py::object item_path = longer_path(path, py::int_(at).ptr());
    append_to(items.ptr(), converted(calls, value.ptr(), item_path.ptr()).ptr());
  }
  set_place(calls, items, path, list);
  return items;
}

py::object converted(const ValueCalls &calls, PyObject *value, PyObject *path) {
  if (PyUnicode_CheckExact(value))
    return text_at(calls, value, path);
  if (value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value) ||
      PyFloat_CheckExact(value))
    return py::reinterpret_borrow<py::object>(value);
  if (!PyDict_CheckExact(value) && !PyList_CheckExact(value))
    return owned(PyObject_CallFunctionObjArgs(calls.convert_object, value, path, nullptr));
  if (Py_EnterRecursiveCall(" in a value of a chat") != 0)
    throw py::error_already_set();
  const struct Level {
    ~Level() { Py_LeaveRecursiveCall(); }
  } level;
  return PyDict_CheckExact(value) ? converted_dict(calls, value, path)
                                  : converted_list(calls, value, path);
}

// Returns a value with its places. The second argument is its path.
PyObject *convert_value(ValueCalls &calls, const Arguments &args) {
  if (args.count != 2 || !PyTuple_CheckExact(args[1]))
    return nullptr;
  return converted(calls, args[0], args[1]).release().ptr();
}

bool has_name(PyObject *names, PyObject *name) {
  const int found = PySet_Contains(names, name);
  if (found < 0)
    throw py::error_already_set();
  return found != 0;
}

// Returns a field of a message. `path` is that of the message.
py::object message_field(const ValueCalls &calls, PyObject *at, PyObject *path, PyObject *name,
                         PyObject *value) {
  const bool is_text = PyUnicode_CheckExact(value);
  if (is_text && PyUnicode_Compare(name, calls.role.ptr()) == 0)
    if (PyObject *const trusted = PyDict_GetItemWithError(calls.roles, value))
      return py::reinterpret_borrow<py::object>(trusted);
  if (!is_text || !has_name(calls.shared_names, name))
    return converted(calls, value, longer_path(path, name).ptr());
  const py::object origin =
      owned(PyObject_CallFunctionObjArgs(calls.origin_of, at, name, nullptr));
  return traced_text(calls.names, value, origin.ptr());
}

// Returns a message as Fields, if no field is None or has several names. The second argument is
// its index.
PyObject *convert_message(ValueCalls &calls, const Arguments &args) {
  if (args.count != 2 || !PyDict_CheckExact(args[0]))
    return nullptr;
  PyObject *name = nullptr;
  PyObject *value = nullptr;
  for (Py_ssize_t place = 0; PyDict_Next(args[0], &place, &name, &value) != 0;)
    if (!PyUnicode_CheckExact(name) || value == Py_None || has_name(calls.aliases, name))
      return nullptr;
  const py::object path = owned(PyTuple_Pack(2, calls.messages.ptr(), args[1]));
  py::object fields = owned(PyObject_CallNoArgs(calls.fields_type));
  for (Py_ssize_t place = 0; PyDict_Next(args[0], &place, &name, &value) != 0;) {
    const auto kept_name = py::reinterpret_borrow<py::object>(name);
    const auto kept_value = py::reinterpret_borrow<py::object>(value);
    const py::object field = message_field(calls, args[1], path.ptr(), name, value);
    if (PyDict_SetItem(fields.ptr(), name, field.ptr()) != 0)
      throw py::error_already_set();
  }
  set_place(calls, fields, path.ptr(), args[0]);
  return fields.release().ptr();
}

// Returns a list of messages as Items, if convert_message converts all of them.
PyObject *convert_messages(ValueCalls &calls, const Arguments &args) {
  if (args.count != 1 || !PyList_CheckExact(args[0]) || PyList_GET_SIZE(args[0]) == 0)
    return nullptr;
  py::object items = owned(PyObject_CallNoArgs(calls.items_type));
  py::list raw;
  for (Py_ssize_t at = 0; at < PyList_GET_SIZE(args[0]); ++at) {
    const auto message = py::reinterpret_borrow<py::object>(PyList_GET_ITEM(args[0], at));
    const py::object index = py::int_(at);
    PyObject *const both[] = {message.ptr(), index.ptr()};
    PyObject *const fields = convert_message(calls, {both, 2});
    if (fields == nullptr)
      return nullptr;
    append_to(items.ptr(), owned(fields).ptr());
    append_to(raw.ptr(), message.ptr());
  }
  set_place(calls, items, calls.messages_path.ptr(), raw.ptr());
  return items.release().ptr();
}

// Returns the functions convert, convert_message and convert_messages of bpe/chat/inputs.py.
// They call the `slow` functions for arguments that C++ does not know. `types` are TracedText,
// Origin, Fields and Items; `helpers` are convert_object, plain_key and origin_of. `roles` has
// the texts of trusted roles. Texts of messages with one of `shared_names` have the origin that
// origin_of returns. `aliases` are the names of fields that have several names.
py::tuple chat_value_calls(const py::tuple &types, const py::tuple &helpers,
                           const py::dict &roles, const py::frozenset &shared_names,
                           const py::frozenset &aliases, const py::tuple &slow) {
  if (types.size() != 4 || helpers.size() != 3 || slow.size() != 3)
    throw py::value_error("expected four types, and three and three functions");
  const auto subtype = [&](std::size_t at, PyTypeObject &base) {
    PyObject *const type = PyTuple_GET_ITEM(types.ptr(), static_cast<Py_ssize_t>(at));
    if (!PyType_Check(type) ||
        !PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(type), &base) ||
        reinterpret_cast<PyTypeObject *>(type)->tp_new == nullptr)
      throw py::type_error("expected subclasses of str, object, dict and list");
    return reinterpret_cast<PyTypeObject *>(type);
  };
  const auto object_at = [](const py::tuple &objects, Py_ssize_t at) {
    return PyTuple_GET_ITEM(objects.ptr(), at);
  };
  PyTypeObject *const text_type = subtype(0, PyUnicode_Type);
  PyTypeObject *const origin_type = subtype(1, PyBaseObject_Type);
  subtype(2, PyDict_Type);
  subtype(3, PyList_Type);
  const FastFunctions<ValueCalls> functions(
      std::make_unique<ValueCalls>(ValueCalls{text_type, origin_type, object_at(types, 2),
                                              object_at(types, 3), object_at(helpers, 0),
                                              object_at(helpers, 1), object_at(helpers, 2),
                                              roles.ptr(), shared_names.ptr(), aliases.ptr()}),
      py::make_tuple(types, helpers, roles, shared_names, aliases));
  return py::make_tuple(functions.make<convert_value>("convert", slow[0]),
                        functions.make<convert_message>("convert_message", slow[1]),
                        functions.make<convert_messages>("convert_messages", slow[2]));
}

} // namespace

void bind_chat_values(py::module_ &module) {
  module.def("chat_value_calls", &chat_value_calls, py::arg("types"), py::arg("helpers"),
             py::arg("roles"), py::arg("shared_names"), py::arg("aliases"), py::arg("slow"));
}

} // namespace pretok
