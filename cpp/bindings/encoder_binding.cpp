#include "bindings/encoder_binding.hpp"

#include "bindings/native_encoder.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

namespace pretok {
namespace {

// Returns whether any of `texts`, which must be str, has a surrogate.
bool have_surrogates(const py::list &texts) {
  for (const py::handle text : texts)
    if (!PyUnicode_Check(text.ptr()))
      throw py::type_error("expected a list of str");
  return std::any_of(texts.begin(), texts.end(), [](const py::handle text) {
    const TextView view(py::reinterpret_borrow<py::object>(text));
    return !view.is_ascii() && view.has_surrogate();
  });
}

} // namespace

void bind_encoder(py::module_ &module) {
  py::class_<NativeEncoder>(module, "Encoder")
      .def(py::init<std::shared_ptr<NativeMachine>, const py::bytes &,
                    const Array<std::uint32_t> &, const Array<std::uint32_t> &, std::size_t,
                    const std::optional<Array<std::uint32_t>> &, bool, bool, bool, std::size_t,
                    const std::optional<MarkedSpaces> &, const std::optional<AnyTextModel> &,
                    std::uint32_t, const std::string &, bool>(),
           py::arg("machine").none(true), py::arg("token_bytes"), py::arg("lengths"),
           py::arg("ids"), py::arg("mergeable"), py::arg("merges").none(true),
           py::arg("from_ranks"), py::arg("ignore_merges"), py::arg("add_prefix_space"),
           py::arg("cache_limit") = CacheBudget::DEFAULT_LIMIT,
           py::arg("marked_spaces") = py::none(), py::arg("text") = py::none(),
           py::arg("id_limit") = 0, py::arg("cuts") = "split",
           py::arg("for_short_texts") = false)
      .def("encode", &NativeEncoder::encode, py::arg("text"), py::arg("added"),
           py::arg("threads") = 0)
      .def("encode_array", &NativeEncoder::encode_array, py::arg("text"), py::arg("added"),
           py::arg("threads") = 0)
      .def("encode_later", &NativeEncoder::encode_later, py::arg("text"), py::arg("added"))
      .def("count", &NativeEncoder::count, py::arg("text"), py::arg("added"),
           py::arg("threads") = 0)
      .def("spans", &NativeEncoder::spans, py::arg("text"), py::arg("added"),
           py::arg("threads") = 0)
      .def("encode_batch", &NativeEncoder::encode_batch, py::arg("texts"), py::arg("added"),
           py::arg("threads") = 0)
      .def("encode_batch_array", &NativeEncoder::encode_batch_array, py::arg("texts"),
           py::arg("added"), py::arg("threads") = 0)
      .def("encode_packed", &NativeEncoder::encode_packed, py::arg("data"), py::arg("offsets"),
           py::arg("added"), py::arg("threads") = 0)
      .def("safe_cut", &NativeEncoder::safe_cut, py::arg("text"), py::arg("added"),
           py::arg("nfc"), py::arg("later") = false)
      .def("merge", &NativeEncoder::merge, py::arg("pre_token"))
      .def("decode", &NativeEncoder::decode, py::arg("ids"))
      .def_static("all_take_fast_path", &all_take_fast_path, py::arg("texts"),
                  py::arg("only_str"), py::arg("only_ascii"), py::arg("only_normal"))
      .def_static("is_normal", &NativeEncoder::is_normal_text, py::arg("text"))
      .def("fast_calls", &NativeEncoder::fast_calls, py::arg("make_added"),
           py::arg("slow_calls"), py::arg("only_str"), py::arg("only_ascii"),
           py::arg("only_normal"))
      .def("span_call", &NativeEncoder::span_call, py::arg("added"), py::arg("only_ascii"),
           py::arg("only_normal"), py::arg("spaces").none(true))
      .def("decode_calls", &NativeEncoder::decode_calls, py::arg("special"),
           py::arg("slow_calls"))
      .def("merges", on_self(&NativeEncoder::merges))
      .def_property_readonly("cache_bytes", on_self(&NativeEncoder::cache_bytes))
      .def("trim", on_self(&NativeEncoder::trim));
  module.def("text_decode_call", &make_text_decode_call, py::arg("make_texts"),
             py::arg("special"), py::arg("slow_call"));
  module.def("have_surrogates", &have_surrogates, py::arg("texts"));
  module.def("set_task_size", &set_task_size, py::arg("size"));
}

} // namespace pretok
