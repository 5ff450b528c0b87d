#include "loading.hpp"

#include "convert.hpp"

#include "compact.hpp"
#include "rank_file.hpp"

#include <utility>
#include <vector>

namespace pretok {
namespace {

py::bytes as_bytes(const std::vector<std::uint8_t> &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

py::object read_ranks(const py::bytes &data) {
  const auto *first = reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(data.ptr()));
  const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(data.ptr()));
  RankFile file;
  bool read = false;
  unlocked(size, [&] { read = read_rank_file(first, size, file); });
  if (!read)
    return py::none();
  return py::make_tuple(as_bytes(file.bytes), as_array(std::move(file.lengths)),
                        as_array(std::move(file.ids)));
}

py::tuple read_tokens(const py::bytes &data, std::size_t at, bool from_ranks) {
  const auto *first = reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(data.ptr()));
  const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(data.ptr()));
  VocabularyData found;
  found.from_ranks = from_ranks;
  Fault fault;
  unlocked(size, [&] { fault = read_compact_tokens(first, size, at, found); });
  if (fault)
    throw py::value_error(fault.message);
  return py::make_tuple(as_bytes(found.bytes), as_array(std::move(found.lengths)),
                        as_array(std::move(found.ids)), as_rows(found.merges));
}

} // namespace

void bind_loading(pybind11::module_ &module) {
  module.def("read_ranks", &read_ranks, py::arg("data"));
  module.def("read_compact_tokens", &read_tokens, py::arg("data"), py::arg("at"),
             py::arg("from_ranks"));
}

} // namespace pretok
