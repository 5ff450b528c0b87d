// pretok._core: the native backend. Only the code in cpp/bindings uses pybind11 or the Python
// API.
#include "bindings/bind.hpp"
#include "bindings/fast_call_method.hpp"
#include "bindings/native_machine.hpp"
#include "bindings/native_spec.hpp"
#include "bindings/native_tokenizer.hpp"
#include "bindings/segment_call.hpp"
#include "bindings/session.hpp"
#include "bindings/text_stream.hpp"

#include "core/simd/kernels.hpp"
#include "core/split/presets.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pretok {
namespace {

// Returns the Unicode version and the program of a preset. Returns None if the C++ code has no
// preset of this name.
py::object built_in_program(const std::string &name) {
  const Preset *preset = find_preset(name);
  if (preset == nullptr)
    return py::none();
  py::list words;
  for (const std::uint32_t word : preset->words())
    words.append(word);
  return py::make_tuple(preset->unicode, words);
}

// Lets __new__ raise TypeError for all classes of `module`. Without __init__, which only
// calling the class runs, a method would read memory that is not initialized.
void refuse_new(const py::module_ &module) {
  static PyMethodDef method{"__new__",
                            [](PyObject *, PyObject *) -> PyObject * {
                              PyErr_SetString(PyExc_TypeError, "call the class instead");
                              return nullptr;
                            },
                            METH_VARARGS, nullptr};
  const auto function = py::reinterpret_steal<py::object>(PyCFunction_New(&method, nullptr));
  const py::handle metaclass(
      reinterpret_cast<PyObject *>(py::detail::get_internals().default_metaclass));
  for (const auto &[name, value] : py::reinterpret_borrow<py::dict>(module.attr("__dict__"))) {
    if (!py::isinstance(value, metaclass))
      continue;
    // Setting the attribute would also change what calling the class does.
    auto *const type = reinterpret_cast<PyTypeObject *>(value.ptr());
    if (PyDict_SetItemString(type->tp_dict, "__new__", function.ptr()) != 0)
      throw py::error_already_set();
    PyType_Modified(type);
  }
}

} // namespace
} // namespace pretok

PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  namespace py = pybind11;
  using pretok::NativeMachine;
  module.doc() = "The native backend of pretok.";
  module.def("built_in_program", &pretok::built_in_program, py::arg("name"));
  // For tests: list the sets of kernels that this processor can run, and select one.
  module.def("kernels", [] {
    std::vector<std::string> names;
    for (const pretok::Kernels *each : pretok::all_kernels())
      names.emplace_back(each->name);
    return names;
  });
  module.def(
      "use_kernels", [](const std::string &name) { return pretok::use_kernels(name); },
      py::arg("name"));
  py::class_<NativeMachine, std::shared_ptr<NativeMachine>>(module, "Machine")
      .def(py::init<const std::vector<std::uint32_t> &, const std::string &>(),
           py::arg("words"), py::arg("version"))
      .def("split", &NativeMachine::split, py::arg("text"))
      .def("split_bytes", &NativeMachine::split_bytes, py::arg("data"))
      .def("offsets", &NativeMachine::offsets, py::arg("data"), py::arg("unit"))
      .def("count", &NativeMachine::count, py::arg("data"))
      .def("steps", &NativeMachine::steps, py::arg("text"))
      .def("advance", &NativeMachine::advance, py::arg("chars"), py::arg("partial"),
           py::arg("in_gap"), py::arg("rule") = pretok::GAP)
      .def("run_length", &NativeMachine::run_length, py::arg("chars"), py::arg("mask"))
      .def("split_batch", &NativeMachine::split_batch, py::arg("texts"), py::arg("threads"));
  pretok::bind_fast_call_method(module);
  pretok::bind_added(module);
  pretok::bind_huggingface_call(module);
  pretok::bind_json_file(module);
  pretok::bind_native_spec(module);
  pretok::bind_normalizing(module);
  pretok::bind_padding(module);
  pretok::bind_text_stream(module);
  pretok::bind_session(module);
  pretok::bind_tokenizer(module);
  pretok::bind_token_places(module);
  pretok::bind_prompt_cache(module);
  pretok::bind_chat_calls(module);
  pretok::bind_chat_json(module);
  pretok::bind_chat_values(module);
  pretok::bind_chunks(module);
  pretok::bind_split_ways(module);
  pretok::bind_training(module);
  pretok::refuse_new(module);
}
