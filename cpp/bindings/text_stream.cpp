#include "bindings/text_stream.hpp"

#include "bindings/convert.hpp"
#include "bindings/new_text.hpp"
#include "core/base/ids.hpp"

#include <pybind11/stl.h>

#include <cstdint>

namespace pretok {
namespace {

namespace py = pybind11;

// Returns the id of an item of a list, or NO_ID if the item is not an id.
std::uint32_t id_of(PyObject *item) {
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(item));
  const unsigned long value =
      number ? PyLong_AsUnsignedLong(number.ptr()) : static_cast<unsigned long>(-1);
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return NO_ID;
  }
  return value < ID_LIMIT ? static_cast<std::uint32_t>(value) : NO_ID;
}

py::str text_of(const std::string &text) {
  PyObject *const result =
      new_text(reinterpret_cast<const std::uint8_t *>(text.data()), text.size(), "strict");
  if (result == nullptr)
    throw py::error_already_set();
  return py::reinterpret_steal<py::str>(result);
}

} // namespace

py::object NativeTextStream::feed(const py::list &ids) {
  std::vector<std::uint32_t> known;
  known.reserve(ids.size());
  for (const py::handle item : ids) {
    const std::uint32_t id = id_of(item.ptr());
    if (id == NO_ID || decoder_.token(id).bytes == nullptr)
      return py::none();
    known.push_back(id);
  }
  std::string text;
  stream_.use(known.size(), [&](TextStream &stream) {
    std::string_view whole;
    if (known.size() == 1 && stream.feed_one(known[0], text, whole))
      text = whole;
    else
      stream.feed(known.data(), known.size(), text);
  });
  return text_of(text);
}

py::str NativeTextStream::finish() {
  std::string text;
  stream_.use(0, [&](TextStream &stream) { stream.finish(text); });
  return text_of(text);
}

void NativeTextStream::reset() {
  stream_.use(0, [](TextStream &stream) { stream.reset(); });
}

std::uint64_t NativeTextStream::rewind(std::size_t count) {
  return stream_.use(0, [&](TextStream &stream) {
    if (count > stream.size())
      throw py::value_error("count is larger than the number of ids");
    return stream.rewind(count);
  });
}

std::unique_ptr<NativeTextStream> NativeTextStream::clone() const {
  return std::unique_ptr<NativeTextStream>(new NativeTextStream(
      owner_, decoder_, stream_.use(0, [](TextStream &stream) { return stream.clone(); })));
}

std::optional<std::size_t> NativeTextStream::stopped() const {
  const std::size_t index = get(&TextStream::stopped);
  return index == StopStrings::NONE ? std::nullopt : std::optional(index);
}

void bind_text_stream(py::module_ &module) {
  using Stream = NativeTextStream;
  py::class_<Stream>(module, "TextStream")
      .def("feed", &Stream::feed, py::arg("ids"))
      .def("finish", on_self(&Stream::finish))
      .def("reset", on_self(&Stream::reset))
      .def("rewind", &Stream::rewind, py::arg("count"))
      .def("clone", on_self(&Stream::clone))
      .def("__len__", [](const Stream &stream) { return stream.get(&TextStream::size); })
      .def_property_readonly("ids",
                             [](const Stream &stream) { return stream.get(&TextStream::ids); })
      .def_property_readonly("stopped", on_self(&Stream::stopped));
}

} // namespace pretok
