// Arranges the ids of many texts in one array for bpe.encoding.padded.
#include "bindings/bind.hpp"
#include "bindings/packed_tokens.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pretok {
namespace {

namespace py = pybind11;

using Ids = Array<std::uint32_t>;
using Offsets = Array<std::int64_t>;

// Which ids of a text a row has, and where.
struct RowLayout {
  std::vector<std::uint32_t> before; // the ids before and after the ids of each text
  std::vector<std::uint32_t> after;
  std::size_t length;    // of each row
  std::size_t max_count; // the maximal number of ids of a text
  bool keeps_last;       // whether a longer text keeps its last ids, instead of its first ids
  std::int64_t pad_id;
  bool pads_left;
};

// Writes the row of a text and its mask. The row must be long enough.
void write_row(const RowLayout &layout, const std::uint32_t *ids, std::size_t count,
               std::int64_t *row, std::int64_t *mask) {
  if (count > layout.max_count) {
    ids += layout.keeps_last ? count - layout.max_count : 0;
    count = layout.max_count;
  }
  const std::size_t total = layout.before.size() + count + layout.after.size();
  const std::size_t missing = layout.length - total;
  if (layout.pads_left) {
    row = std::fill_n(row, missing, layout.pad_id);
    mask = std::fill_n(mask, missing, 0);
  }
  row = std::copy(layout.before.begin(), layout.before.end(), row);
  row = std::copy(ids, ids + count, row);
  row = std::copy(layout.after.begin(), layout.after.end(), row);
  mask = std::fill_n(mask, total, 1);
  if (!layout.pads_left) {
    std::fill_n(row, missing, layout.pad_id);
    std::fill_n(mask, missing, 0);
  }
}

// Returns a copy of `offsets`: another thread may change the array while the GIL is released.
// Throws if the ids of a text are not within `ids`, or do not fit into a row.
std::vector<std::int64_t> checked(const RowLayout &layout, const Ids &ids,
                                  const Offsets &offsets) {
  if (ids.ndim() != 1 || offsets.ndim() != 1 || offsets.size() == 0)
    throw py::value_error("expected arrays of one dimension, with at least one offset");
  std::vector<std::int64_t> bounds(offsets.data(), offsets.data() + offsets.size());
  const std::size_t added = layout.before.size() + layout.after.size();
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    const std::int64_t start = bounds[i];
    const std::int64_t end = bounds[i + 1];
    if (start < 0 || start > end || end > ids.size())
      throw py::value_error("expected ascending offsets, each from 0 to the number of ids");
    const std::size_t count = std::min(static_cast<std::size_t>(end - start), layout.max_count);
    if (count + added > layout.length)
      throw py::value_error("expected rows that have room for the ids of each text");
  }
  return bounds;
}

// bpe.encoding.padded.pad describes the arguments and the result.
py::tuple pad_rows(const Ids &ids, const Offsets &offsets, std::vector<std::uint32_t> before,
                   std::vector<std::uint32_t> after, std::size_t length, std::size_t max_count,
                   bool keeps_last, std::int64_t pad_id, bool pads_left) {
  const RowLayout layout{std::move(before), std::move(after), length,   max_count,
                         keeps_last,        pad_id,           pads_left};
  const std::vector<std::int64_t> bounds = checked(layout, ids, offsets);
  const py::ssize_t rows = offsets.size() - 1;
  const auto max_size = static_cast<std::size_t>(PY_SSIZE_T_MAX) / sizeof(std::int64_t);
  if (length > max_size / std::max<std::size_t>(static_cast<std::size_t>(rows), 1))
    throw py::value_error("expected a length for which the rows fit into memory");
  const std::vector<py::ssize_t> shape{rows, static_cast<py::ssize_t>(length)};
  py::array_t<std::int64_t> padded(shape);
  py::array_t<std::int64_t> mask(shape);
  const std::uint32_t *const all_ids = ids.data();
  std::int64_t *row = padded.mutable_data();
  std::int64_t *mask_row = mask.mutable_data();
  {
    const py::gil_scoped_release release;
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
      const auto count = static_cast<std::size_t>(bounds[i + 1] - bounds[i]);
      write_row(layout, all_ids + bounds[i], count, row, mask_row);
      row += length;
      mask_row += length;
    }
  }
  return py::make_tuple(std::move(padded), std::move(mask));
}

} // namespace

void bind_padding(py::module_ &module) {
  module.def("pad_rows", &pad_rows, py::arg("ids"), py::arg("offsets"), py::arg("before"),
             py::arg("after"), py::arg("length"), py::arg("max_count"), py::arg("keeps_last"),
             py::arg("pad_id"), py::arg("pads_left"));
}

} // namespace pretok
