#include "bindings/loading.hpp"

#include "bindings/convert.hpp"

#include "bindings/utf8_texts.hpp"
#include "core/base/ids.hpp"
#include "formats/pretok_file.hpp"
#include "formats/rank_file.hpp"
#include "formats/read_model.hpp"
#include "formats/text_model.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

namespace pretok {
namespace {

py::bytes as_bytes(const std::vector<std::uint8_t> &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// Tokens, their lengths and ids.
py::tuple packed(VocabularyData &found) {
  return py::make_tuple(as_bytes(found.bytes), as_array(std::move(found.lengths)),
                        as_array(std::move(found.ids)));
}

// Merges besides.
py::tuple packed_merges(VocabularyData &found) {
  return packed(found) + py::make_tuple(as_rows(found.merges));
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
  return packed_merges(found);
}

// False: an id is none, or there twice, or a text has no UTF-8.
bool read_texts(const py::dict &vocab, const std::unordered_set<std::uint32_t> &loose,
                Utf8Texts &utf8, TextModel &source) {
  std::vector<bool> seen;
  for (const auto &[key, value] : vocab) {
    const std::optional<std::string_view> text = utf8.add(key.ptr());
    if (!text || !PyLong_CheckExact(value.ptr()))
      return false;
    int overflow = 0;
    const long id = PyLong_AsLongAndOverflow(value.ptr(), &overflow);
    if (overflow != 0 || id < 0 || id >= static_cast<long>(ID_LIMIT))
      return false;
    const auto at = static_cast<std::size_t>(id);
    if (at >= seen.size())
      seen.resize(std::max(at + 1, vocab.size()));
    if (seen[at])
      return false;
    seen[at] = true;
    source.texts.push_back(*text);
    source.ids.push_back(static_cast<std::uint32_t>(id));
    if (!loose.empty())
      source.loose.push_back(loose.count(source.ids.back()) != 0);
  }
  return true;
}

// False: it is not two texts, nor one of two with a space between.
bool read_merge(PyObject *merge, Utf8Texts &utf8, TextMerge &found) {
  if (PyUnicode_Check(merge)) {
    const std::optional<std::string_view> both = utf8.add(merge);
    return both && split_merge(*both, found);
  }
  const bool is_pair = (PyList_CheckExact(merge) || PyTuple_CheckExact(merge)) &&
                       PySequence_Fast_GET_SIZE(merge) == 2;
  if (!is_pair)
    return false;
  const auto left = utf8.add(PySequence_Fast_GET_ITEM(merge, 0));
  const auto right = utf8.add(PySequence_Fast_GET_ITEM(merge, 1));
  if (!left || !right)
    return false;
  found = {*left, *right};
  return true;
}

// None: something is not as it has to be, which Python can say better.
py::object build_texts(const py::dict &vocab, const py::list &merges,
                       const std::vector<std::tuple<py::str, std::uint32_t, bool>> &added,
                       bool ignore_merges, const std::unordered_set<std::uint32_t> &loose) {
  Utf8Texts utf8;
  TextModel source;
  source.ignore_merges = ignore_merges;
  if (!read_texts(vocab, loose, utf8, source))
    return py::none();
  source.merges.resize(merges.size());
  for (std::size_t rank = 0; rank < merges.size(); ++rank)
    if (!read_merge(merges[rank].ptr(), utf8, source.merges[rank]))
      return py::none();
  Model model;
  for (const auto &[text, id, special] : added) {
    const std::optional<std::string_view> content = utf8.add(text.ptr());
    if (!content)
      return py::none();
    model.added.emplace_back();
    model.added.back().content = *content;
    model.added.back().id = id;
    model.added_special.push_back(special);
  }
  Fault fault;
  unlocked(source.texts.size(),
           [&] { fault = build_vocabulary(source, TextPlaces(source.texts), model); });
  if (fault)
    return py::none();
  return packed_merges(model.vocabulary);
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
  found["packed"] = packed(vocabulary);
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
  module.def("build_vocabulary", &build_texts, py::arg("vocab"), py::arg("merges"),
             py::arg("added"), py::arg("ignore_merges"), py::arg("loose"));
  module.def("read_model", &read_file, py::arg("data")); // for tests
}

} // namespace pretok
