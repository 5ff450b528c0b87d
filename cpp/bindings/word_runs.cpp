#include "bindings/word_runs.hpp"

#include "bindings/interrupt_check.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace pretok {
namespace {

// Merges runs. `runs` has (blocks, base) for each run. Returns (words, bytes, total).
py::tuple merge_runs_of(const std::vector<std::pair<py::iterable, std::uint64_t>> &runs,
                        const py::function &write) {
  std::vector<RunReader> readers;
  for (const auto &[blocks, base] : runs)
    readers.emplace_back(BlockSource(py::iter(blocks)), base);
  const BlockSink sink(write);
  const py::gil_scoped_release released;
  const RunSize size = merge_runs(readers, sink, InterruptCheck());
  return run_size(size);
}

} // namespace

py::tuple run_size(const RunSize &size) {
  const py::gil_scoped_acquire acquired;
  return py::make_tuple(size.words, size.bytes, size.total);
}

void bind_word_runs(py::module_ &module) {
  module.def("merge_runs", &merge_runs_of, py::arg("runs"), py::arg("write"));
}

} // namespace pretok
