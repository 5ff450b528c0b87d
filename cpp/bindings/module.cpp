// pretok._core: the native backend. The only file that names pybind11 or Python.
#include "batch.hpp"
#include "machine.hpp"
#include "presets.hpp"
#include "splitter.hpp"
#include "str_cache.hpp"
#include "units.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace py = pybind11;

namespace pretok {
namespace {

// Below this, giving up the interpreter's lock costs more than the work is worth to others.
constexpr std::size_t WORTH_RELEASING = 4096;

// Below this many pre-tokens, setting up a cache of slices takes longer than it saves.
constexpr std::size_t WORTH_CACHING = 2000;

using Offsets = std::vector<std::int64_t>;

// Calls use(source) with the text of a str, in the width that Python keeps it in, or of bytes.
template <typename Use> auto with_source(py::handle text, const ClassTable &classes, Use use) {
  PyObject *object = text.ptr();
  if (PyBytes_Check(object)) {
    const auto *data = reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(object));
    return use(Utf8(data, static_cast<std::size_t>(PyBytes_GET_SIZE(object)), classes));
  }
  if (!PyUnicode_Check(object))
    throw py::type_error("expected str or bytes");
#if PY_VERSION_HEX < 0x030C0000
  if (PyUnicode_READY(object) != 0)
    throw py::error_already_set();
#endif
  const auto size = static_cast<std::size_t>(PyUnicode_GET_LENGTH(object));
  switch (PyUnicode_KIND(object)) {
  case PyUnicode_1BYTE_KIND:
    return use(CodePoints<std::uint8_t>(PyUnicode_1BYTE_DATA(object), size, classes));
  case PyUnicode_2BYTE_KIND:
    return use(CodePoints<std::uint16_t>(PyUnicode_2BYTE_DATA(object), size, classes));
  default:
    return use(CodePoints<std::uint32_t>(PyUnicode_4BYTE_DATA(object), size, classes));
  }
}

// Runs work(), without the interpreter's lock if the text is long.
template <typename Work> void unlocked(std::size_t size, Work work) {
  std::optional<py::gil_scoped_release> released;
  if (size >= WORTH_RELEASING)
    released.emplace();
  work();
}

template <typename T> py::array_t<T> as_array(std::vector<T> &&values) {
  auto *owned = new std::vector<T>(std::move(values));
  const py::capsule owner(owned, [](void *p) { delete static_cast<std::vector<T> *>(p); });
  return py::array_t<T>(static_cast<py::ssize_t>(owned->size()), owned->data(), owner);
}

// Returns a list of make(start, end) for each pair of neighbours in `bounds`.
template <typename Make> py::list slices(const Offsets &bounds, Make make) {
  py::list result(bounds.size() - 1);
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    PyObject *slice = make(bounds[i], bounds[i + 1]);
    if (slice == nullptr)
      throw py::error_already_set();
    PyList_SET_ITEM(result.ptr(), static_cast<py::ssize_t>(i), slice);
  }
  return result;
}

py::list slices_of_str(py::handle text, const Offsets &bounds) {
  if (bounds.size() < WORTH_CACHING)
    return slices(bounds, [text](std::int64_t start, std::int64_t end) {
      return PyUnicode_Substring(text.ptr(), start, end);
    });
  const auto cache = std::make_unique<StrCache>(text.ptr());
  return slices(bounds, [&cache](std::int64_t start, std::int64_t end) {
    return cache->slice(start, end);
  });
}

// Returns the Unicode version and the program of a preset that is built into C++, or None.
py::object built_in_program(const std::string &name) {
  const Preset *preset = find_preset(name);
  if (preset == nullptr)
    return py::none();
  py::list words;
  for (std::size_t i = 0; i < preset->word_count; ++i)
    words.append(preset->words[i]);
  return py::make_tuple(preset->unicode, words);
}

class NativeMachine {
public:
  NativeMachine(const std::vector<std::uint32_t> &words, const std::string &version)
      : machine_(read(words), table(version)) {}

  py::list split(const py::str &text) const { return slices_of_str(text, boundaries(text)); }

  py::list split_bytes(const py::bytes &data) const {
    const char *first = PyBytes_AS_STRING(data.ptr());
    return slices(boundaries(data), [first](std::int64_t start, std::int64_t end) {
      return PyBytes_FromStringAndSize(first + start, end - start);
    });
  }

  py::array_t<std::int64_t> offsets(py::handle text, const std::string &unit) const {
    Offsets bounds = boundaries(text);
    with_source(text, machine_.classes(), [&](const auto &source) {
      unlocked(source.size(), [&] { convert(source, bounds, unit_of(unit)); });
    });
    return as_array(std::move(bounds));
  }

  std::size_t count(py::handle text) const {
    std::size_t result = 0;
    with_source(text, machine_.classes(), [&](const auto &source) {
      unlocked(source.size(),
               [&] { pretok::split(machine_, source, [&result](std::size_t) { ++result; }); });
    });
    return result;
  }

  py::tuple steps(const py::str &text) const {
    Offsets bounds{0};
    std::vector<std::int32_t> rules;
    with_source(text, machine_.classes(), [&](const auto &source) {
      unlocked(source.size(), [&] {
        machine_.run(source, false, false, [&](std::size_t end, int rule) {
          bounds.push_back(static_cast<std::int64_t>(end));
          rules.push_back(rule);
        });
      });
    });
    return py::make_tuple(as_array(std::move(bounds)), as_array(std::move(rules)));
  }

  py::tuple advance(const py::str &chars, bool partial, bool in_gap) const {
    std::vector<std::size_t> ends;
    std::vector<int> rules;
    Rest rest{};
    with_source(chars, machine_.classes(), [&](const auto &source) {
      unlocked(source.size(), [&] {
        rest = machine_.run(source, partial, in_gap, [&](std::size_t end, int rule) {
          ends.push_back(end);
          rules.push_back(rule);
        });
      });
    });
    return py::make_tuple(ends, rules, rest.resume, rest.in_gap, rest.room, rest.open);
  }

  std::size_t run_length(const py::str &chars, Mask mask) const {
    return with_source(chars, machine_.classes(),
                       [&](const auto &source) { return machine_.run_length(source, mask); });
  }

  py::list split_batch(const py::list &texts, unsigned threads) const {
    // The tuple keeps the texts alive, whatever becomes of the list meanwhile.
    const py::tuple kept(texts);
    std::vector<Offsets> bounds(kept.size());
    std::vector<std::function<void()>> work;
    work.reserve(kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i)
      with_source(kept[i], machine_.classes(), [&](const auto &source) {
        work.emplace_back([this, source, &out = bounds[i]] { out = boundaries_of(source); });
      });
    {
      const py::gil_scoped_release released;
      run_all(work, threads);
    }
    py::list result(kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i)
      result[i] = slices_of_str(kept[i], bounds[i]);
    return result;
  }

private:
  static Program read(const std::vector<std::uint32_t> &words) {
    Program program;
    if (const char *wrong = read_program(words.data(), words.size(), program))
      throw py::value_error(wrong);
    return program;
  }

  static UnicodeTable table(const std::string &version) {
    const UnicodeTable found = unicode_table(version);
    if (found.size == 0)
      throw py::value_error("no table of Unicode " + version);
    return found;
  }

  static Unit unit_of(const std::string &name) {
    if (name == "char")
      return Unit::CHAR;
    if (name == "byte")
      return Unit::BYTE;
    if (name == "utf16")
      return Unit::UTF16;
    throw py::value_error("unknown unit " + name);
  }

  template <typename Source> Offsets boundaries_of(const Source &source) const {
    Offsets bounds;
    bounds.reserve(source.size() / 4 + 2);
    bounds.push_back(0);
    pretok::split(machine_, source, [&bounds](std::size_t end) {
      bounds.push_back(static_cast<std::int64_t>(end));
    });
    return bounds;
  }

  Offsets boundaries(py::handle text) const {
    Offsets bounds;
    with_source(text, machine_.classes(), [&](const auto &source) {
      unlocked(source.size(), [&] { bounds = boundaries_of(source); });
    });
    return bounds;
  }

  Machine machine_;
};

} // namespace
} // namespace pretok

PYBIND11_MODULE(_core, module, py::mod_gil_not_used()) {
  using pretok::NativeMachine;
  module.doc() = "The native backend of pretok.";
  module.def("built_in_program", &pretok::built_in_program, py::arg("name"));
  py::class_<NativeMachine>(module, "Machine")
      .def(py::init<const std::vector<std::uint32_t> &, const std::string &>(),
           py::arg("words"), py::arg("version"))
      .def("split", &NativeMachine::split, py::arg("text"))
      .def("split_bytes", &NativeMachine::split_bytes, py::arg("data"))
      .def("offsets", &NativeMachine::offsets, py::arg("data"), py::arg("unit"))
      .def("count", &NativeMachine::count, py::arg("data"))
      .def("steps", &NativeMachine::steps, py::arg("text"))
      .def("advance", &NativeMachine::advance, py::arg("chars"), py::arg("partial"),
           py::arg("in_gap"))
      .def("run_length", &NativeMachine::run_length, py::arg("chars"), py::arg("mask"))
      .def("split_batch", &NativeMachine::split_batch, py::arg("texts"), py::arg("threads"));
}
