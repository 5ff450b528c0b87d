// Runs of words, for Python.
#pragma once

#include "core/train/word_runs.hpp"

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace pretok {
namespace py = pybind11;

// Passes each block to a Python function, as bytes. Called without the GIL.
class BlockSink {
public:
  explicit BlockSink(const py::function &write) : write_(&write) {}
  void operator()(ByteView block) const {
    const py::gil_scoped_acquire acquired;
    (*write_)(py::bytes(reinterpret_cast<const char *>(block.data), block.size));
  }

private:
  const py::function *write_;
};

// Takes the blocks of a run from a Python iterator of bytes. Called without the GIL.
class BlockSource {
public:
  explicit BlockSource(py::iterator blocks)
      : state_(new State{std::move(blocks), py::bytes()}, [](State *state) {
          const py::gil_scoped_acquire acquired;
          delete state;
        }) {}
  ByteView operator()() const {
    const py::gil_scoped_acquire acquired;
    PyObject *const next = PyIter_Next(state_->blocks.ptr());
    if (next == nullptr) {
      if (PyErr_Occurred() != nullptr)
        throw py::error_already_set();
      return {nullptr, 0};
    }
    auto item = py::reinterpret_steal<py::object>(next);
    if (!PyBytes_Check(item.ptr()) || PyBytes_GET_SIZE(item.ptr()) == 0)
      throw py::type_error("expected blocks of at least one byte");
    state_->block = py::reinterpret_steal<py::bytes>(item.release());
    return {reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(state_->block.ptr())),
            static_cast<std::size_t>(PyBytes_GET_SIZE(state_->block.ptr()))};
  }

private:
  struct State {
    py::iterator blocks;
    py::bytes block; // the last one
  };
  std::shared_ptr<State> state_;
};

// Returns (words, bytes, total). Called without the GIL.
py::tuple run_size(const RunSize &size);
void bind_word_runs(py::module_ &module);

} // namespace pretok
