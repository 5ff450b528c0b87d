// Runs of words, and the trainer that reads them, for Python.
#pragma once

#include "core/train/word_runs.hpp"

#include <pybind11/pybind11.h>

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

// Returns (words, bytes, total). Called without the GIL.
py::tuple run_size(const RunSize &size);
void bind_word_runs(py::module_ &module);

} // namespace pretok
