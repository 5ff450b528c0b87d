#include "loading.hpp"

#include "convert.hpp"

#include "compact.hpp"
#include "rank_file.hpp"
#include "read_model.hpp"

#include <pybind11/stl.h>

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

// All that read_model says of a file, to compare it with what Python reads.
py::dict read_file(const py::bytes &data) {
  const auto *first = reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(data.ptr()));
  Model model;
  const Fault fault =
      read_model(first, static_cast<std::size_t>(PyBytes_GET_SIZE(data.ptr())), model);
  py::dict found;
  if (fault) {
    found["fault"] = fault.message;
    found["unsupported"] = fault.kind == Fault::UNSUPPORTED;
    return found;
  }
  VocabularyData &vocabulary = model.vocabulary;
  found["packed"] =
      py::make_tuple(as_bytes(vocabulary.bytes), as_array(std::move(vocabulary.lengths)),
                     as_array(std::move(vocabulary.ids)));
  found["merges"] = as_rows(vocabulary.merges);
  found["from_ranks"] = vocabulary.from_ranks;
  found["ignore_merges"] = vocabulary.ignore_merges;
  py::list added;
  for (std::size_t i = 0; i < model.added.size(); ++i) {
    const AddedToken &token = model.added[i];
    added.append(py::make_tuple(token.content, token.id, bool{model.added_special[i]},
                                token.normalized, token.lstrip, token.rstrip,
                                token.single_word));
  }
  found["added"] = added;
  found["preset"] = model.preset;
  found["why_no_preset"] = model.why_no_preset;
  found["program"] = model.program;
  found["unicode"] = model.unicode;
  found["nfc"] = model.nfc;
  found["add_prefix_space"] = model.add_prefix_space;
  found["before"] = model.before;
  found["after"] = model.after;
  return found;
}

} // namespace

void bind_loading(pybind11::module_ &module) {
  module.def("read_ranks", &read_ranks, py::arg("data"));
  module.def("read_compact_tokens", &read_tokens, py::arg("data"), py::arg("at"),
             py::arg("from_ranks"));
  module.def("read_model", &read_file, py::arg("data")); // for tests
}

} // namespace pretok
