#include "bindings/loading.hpp"

#include "bindings/convert.hpp"
#include "bindings/native_spec.hpp"
#include "bindings/packed_tokens.hpp"
#include "formats/pretok_file.hpp"
#include "formats/rank_file.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace pretok {
namespace {

// Returns the bytes, lengths and ids of the tokens of a rank file (one token in base64 and its
// rank per line). Returns None if the file is not in the exact format of tiktoken. The reader
// in Python then accepts a variant of the format, or raises the error.
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

// Returns the vocabulary of a .pretok file. Its tokens begin at byte `at` of `data`. If
// `from_ranks`, the rank of a merge is the id of its result, and any two tokens merge if their
// joined bytes are a token. Then the file lists at most one merge for each token: the merge
// from which the reader computes the bytes of the token.
py::tuple read_tokens(const py::bytes &data, std::size_t at, bool from_ranks) {
  const auto *first = reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(data.ptr()));
  const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(data.ptr()));
  if (at > size)
    throw py::value_error("expected an offset within the data");
  VocabularyData vocabulary;
  vocabulary.from_ranks = from_ranks;
  LoadError error;
  unlocked(size, [&] { error = read_pretok_file_tokens(first, size, at, vocabulary); });
  if (error)
    throw py::value_error(error.message);
  return packed_merges(vocabulary);
}

} // namespace

void bind_loading(pybind11::module_ &module) {
  module.def("read_ranks", &read_ranks, py::arg("data"));
  module.def("read_pretok_file_tokens", &read_tokens, py::arg("data"), py::arg("at"),
             py::arg("from_ranks"));
  bind_json_file(module);
  bind_native_spec(module);
}

} // namespace pretok
