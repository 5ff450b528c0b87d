#include "bindings/word_runs.hpp"

#include "bindings/convert.hpp"
#include "bindings/interrupt_check.hpp"
#include "core/train/disk_trainer.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pretok {
namespace {

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

class NativeDiskTrainer {
public:
  NativeDiskTrainer(const py::iterable &blocks,
                    const std::tuple<std::uint64_t, std::uint64_t, std::int64_t> &size,
                    std::int64_t min_frequency, std::optional<std::uint64_t> max_token_length,
                    std::int64_t least_count, const py::function &append,
                    const py::function &read)
      : trainer_(make(blocks, size, min_frequency, max_token_length, least_count,
                      std::make_shared<Calls>(Calls{append, read}))) {}

  bool step(std::size_t tokens) {
    const py::gil_scoped_release released;
    return trainer_->step(tokens, InterruptCheck());
  }
  std::size_t tokens() const { return trainer_->tokens(); }
  bool is_exhausted() const { return trainer_->is_exhausted(); }
  py::array_t<std::uint32_t> merges() const { return rows(trainer_->merges()); }
  py::array_t<std::uint32_t> first_merges() const { return rows(trainer_->first_merges()); }

private:
  struct Calls {
    py::function append;
    py::function read;
  };

  static py::array_t<std::uint32_t> rows(const std::vector<Trainer::Merge> &merges) {
    static_assert(sizeof(Trainer::Merge) == 3 * sizeof(std::uint32_t));
    return py::array_t<std::uint32_t>({static_cast<py::ssize_t>(merges.size()), py::ssize_t{3}},
                                      reinterpret_cast<const std::uint32_t *>(merges.data()));
  }

  static std::unique_ptr<DiskTrainer>
  make(const py::iterable &blocks,
       const std::tuple<std::uint64_t, std::uint64_t, std::int64_t> &size,
       std::int64_t min_frequency, std::optional<std::uint64_t> max_token_length,
       std::int64_t least_count, const std::shared_ptr<Calls> &calls) {
    RunReader reader{BlockSource(py::iter(blocks))};
    // The functions of `log` are called without the GIL, and freed with it: `trainer_` and
    // `calls` are freed by Python.
    DiskLog log;
    log.append = [calls](const std::uint32_t *numbers, std::size_t count) {
      const py::gil_scoped_acquire acquired;
      calls->append(py::bytes(reinterpret_cast<const char *>(numbers), count * NUMBER_BYTES));
    };
    log.read = [calls](std::uint64_t offset, std::uint32_t *numbers, std::size_t count) {
      const py::gil_scoped_acquire acquired;
      const py::object data = calls->read(offset * NUMBER_BYTES, count * NUMBER_BYTES);
      if (!PyBytes_Check(data.ptr()) ||
          static_cast<std::size_t>(PyBytes_GET_SIZE(data.ptr())) != count * NUMBER_BYTES)
        throw std::runtime_error("expected the numbers that were written");
      std::memcpy(numbers, PyBytes_AS_STRING(data.ptr()), count * NUMBER_BYTES);
    };
    const RunSize run_size{std::get<0>(size), std::get<1>(size), std::get<2>(size)};
    const py::gil_scoped_release released;
    return std::make_unique<DiskTrainer>(
        reader, run_size, min_frequency,
        max_token_length.value_or(std::numeric_limits<std::uint64_t>::max()), least_count,
        std::move(log), InterruptCheck());
  }

  static constexpr std::size_t NUMBER_BYTES = sizeof(std::uint32_t);
  std::unique_ptr<DiskTrainer> trainer_;
};

} // namespace

py::tuple run_size(const RunSize &size) {
  const py::gil_scoped_acquire acquired;
  return py::make_tuple(size.words, size.bytes, size.total);
}

void bind_word_runs(py::module_ &module) {
  module.def("merge_runs", &merge_runs_of, py::arg("runs"), py::arg("write"));
  py::class_<NativeDiskTrainer>(module, "DiskTrainer")
      .def(py::init<const py::iterable &,
                    const std::tuple<std::uint64_t, std::uint64_t, std::int64_t> &,
                    std::int64_t, std::optional<std::uint64_t>, std::int64_t,
                    const py::function &, const py::function &>(),
           py::arg("blocks"), py::arg("size"), py::arg("min_frequency"),
           py::arg("max_token_length"), py::arg("least_count"), py::arg("append"),
           py::arg("read"))
      .def("step", &NativeDiskTrainer::step, py::arg("tokens"))
      .def_property_readonly("tokens", on_self(&NativeDiskTrainer::tokens))
      .def_property_readonly("is_exhausted", on_self(&NativeDiskTrainer::is_exhausted))
      .def("merges", on_self(&NativeDiskTrainer::merges))
      .def("first_merges", on_self(&NativeDiskTrainer::first_merges));
}

} // namespace pretok
