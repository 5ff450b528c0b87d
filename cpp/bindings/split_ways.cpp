// Finds the ways to split a text, for bpe/canonical/.
#include "bindings/bind.hpp"
#include "bindings/native_machine.hpp"

#include "core/split/split_ways.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pretok {
namespace {

namespace py = pybind11;

using ExampleRecord = std::tuple<int, std::string, bool, bool>;

// A SplitFinder with the machine that it uses.
class NativeSplitFinder {
public:
  NativeSplitFinder(std::shared_ptr<NativeMachine> machine,
                    const std::vector<ExampleRecord> &records, std::size_t suffix_size,
                    bool has_texts)
      : machine_(std::move(machine)),
        finder_(machine_->pre_tokenizer(), examples(records), suffix_size, has_texts) {
    if (!machine_->pre_tokenizer().is_isolated())
      throw py::value_error("expected a pre-tokenizer whose stages are all isolated");
  }

  py::tuple find(const std::string &before, const std::vector<std::string> &tokens) const {
    SplitWays found;
    {
      const py::gil_scoped_release released;
      found = finder_.find(before, tokens);
    }
    py::list ways;
    for (const SplitWay &way : found.ways)
      ways.append(py::make_tuple(py::tuple(py::cast(way.places)), way.begins));
    py::array_t<std::int64_t> rows(
        std::vector<py::ssize_t>{static_cast<py::ssize_t>(found.rows.size()), 3});
    std::int64_t *to = rows.mutable_data();
    for (const SplitRow &row : found.rows) {
      *to++ = static_cast<std::int64_t>(row.token);
      *to++ = static_cast<std::int64_t>(row.way);
      *to++ = row.first;
    }
    return py::make_tuple(ways, rows);
  }

private:
  static std::vector<ClassExample> examples(const std::vector<ExampleRecord> &records) {
    std::vector<ClassExample> result;
    for (const auto &[class_, utf8, is_plain, is_counted] : records)
      result.push_back({class_, utf8, is_plain, is_counted});
    return result;
  }

  std::shared_ptr<NativeMachine> machine_;
  SplitFinder finder_;
};

} // namespace

void bind_split_ways(py::module_ &module) {
  py::class_<NativeSplitFinder>(module, "SplitFinder")
      .def(py::init<std::shared_ptr<NativeMachine>, const std::vector<ExampleRecord> &,
                    std::size_t, bool>(),
           py::arg("machine").none(false), py::arg("examples"), py::arg("suffix_size"),
           py::arg("has_texts"))
      .def("find", &NativeSplitFinder::find, py::arg("before"), py::arg("tokens"));
}

} // namespace pretok
