#include "loading.hpp"

#include "convert.hpp"
#include "rank_file.hpp"

#include <utility>

namespace pretok {
namespace {

py::object read_ranks(const py::bytes &data) {
  const auto *first = reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(data.ptr()));
  const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(data.ptr()));
  RankFile file;
  bool read = false;
  unlocked(size, [&] { read = read_rank_file(first, size, file); });
  if (!read)
    return py::none();
  const py::bytes bytes(reinterpret_cast<const char *>(file.bytes.data()), file.bytes.size());
  return py::make_tuple(bytes, as_array(std::move(file.lengths)),
                        as_array(std::move(file.ids)));
}

} // namespace

void bind_loading(pybind11::module_ &module) {
  module.def("read_ranks", &read_ranks, py::arg("data"));
}

} // namespace pretok
