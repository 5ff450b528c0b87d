#include "bindings/bind.hpp"

#include "bindings/fast_function.hpp"
#include "bindings/new_text.hpp"
#include "core/json/json_text.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace py = pybind11;

namespace pretok {
namespace {

// Writes JSON like json.dumps with ensure_ascii=False. `write` returns false for a value that
// this class does not know. A Python error may then be set.
class JsonWriter {
public:
  // If `indent` is negative, all is on one line.
  explicit JsonWriter(int indent) : indent_(indent) {}

  bool write(PyObject *value, int level = 0) {
    if (PyUnicode_CheckExact(value))
      return write_string(value);
    if (value == Py_None || PyBool_Check(value))
      text_ += value == Py_None ? "null" : value == Py_True ? "true" : "false";
    else if (PyDict_CheckExact(value))
      return level < MAX_LEVELS && write_dict(value, level + 1);
    else if (PyList_CheckExact(value))
      return level < MAX_LEVELS && write_list(value, level + 1);
    else if (PyLong_CheckExact(value) ||
             (PyFloat_CheckExact(value) && std::isfinite(PyFloat_AS_DOUBLE(value))))
      text_ += py::cast<std::string>(owned(PyObject_Repr(value)));
    else
      return false;
    return true;
  }

  py::object finish() const {
    return owned(
        new_text(reinterpret_cast<const std::uint8_t *>(text_.data()), text_.size(), "strict"));
  }

private:
  static constexpr int MAX_LEVELS = 100; // a value may contain itself

  void begin_item(bool is_first, int level) {
    if (!is_first)
      text_ += indent_ < 0 ? ", " : ",";
    begin_line(level);
  }

  void begin_line(int level) {
    if (indent_ < 0)
      return;
    text_ += '\n';
    text_.append(static_cast<std::size_t>(indent_) * static_cast<std::size_t>(level), ' ');
  }

  bool write_dict(PyObject *dict, int level) {
    text_ += '{';
    PyObject *name = nullptr;
    PyObject *value = nullptr;
    bool is_first = true;
    for (Py_ssize_t place = 0; PyDict_Next(dict, &place, &name, &value) != 0;) {
      begin_item(is_first, level);
      is_first = false;
      if (!PyUnicode_CheckExact(name) || !write_string(name))
        return false;
      text_ += ": ";
      if (!write(value, level))
        return false;
    }
    if (!is_first)
      begin_line(level - 1);
    text_ += '}';
    return true;
  }

  bool write_list(PyObject *list, int level) {
    text_ += '[';
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(list); ++at) {
      begin_item(at == 0, level);
      if (!write(PyList_GET_ITEM(list, at), level))
        return false;
    }
    if (PyList_GET_SIZE(list) != 0)
      begin_line(level - 1);
    text_ += ']';
    return true;
  }

  bool write_string(PyObject *string) {
    py::object bytes;
    std::string_view utf8;
    if (PyUnicode_IS_ASCII(string)) {
      utf8 = {static_cast<const char *>(PyUnicode_DATA(string)),
              static_cast<std::size_t>(PyUnicode_GET_LENGTH(string))};
    } else {
      bytes = py::reinterpret_steal<py::object>(PyUnicode_AsUTF8String(string));
      if (!bytes)
        return false; // it has surrogates
      utf8 = {PyBytes_AS_STRING(bytes.ptr()),
              static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
    }
    append_json_string(utf8, text_);
    return true;
  }

  int indent_;
  std::string text_;
};

// Returns json.dumps(value, ensure_ascii=False, indent=indent); a negative `indent` is None.
// Returns None for values that JsonWriter does not know, and for invalid ones.
py::object json_text(const py::object &value, int indent) {
  JsonWriter writer(indent);
  if (writer.write(value.ptr()))
    return writer.finish();
  PyErr_Clear();
  return py::none();
}

} // namespace

void bind_chat_json(py::module_ &module) {
  module.def("json_text", &json_text, py::arg("value"), py::arg("indent") = -1);
}

} // namespace pretok
