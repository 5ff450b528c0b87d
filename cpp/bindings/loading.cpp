#include "bindings/loading.hpp"

#include "bindings/convert.hpp"
#include "bindings/packed_tokens.hpp"
#include "bindings/utf8_texts.hpp"
#include "core/base/ids.hpp"
#include "formats/pretok_file.hpp"
#include "formats/rank_file.hpp"
#include "formats/read_spec.hpp"
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
  VocabularyData vocabulary;
  vocabulary.from_ranks = from_ranks;
  LoadError error;
  unlocked(size, [&] { error = read_pretok_file_tokens(first, size, at, vocabulary); });
  if (error)
    throw py::value_error(error.message);
  return packed_merges(vocabulary);
}

// Returns false if an id is invalid or repeated, or if a text is not valid UTF-8.
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

// Returns false unless `merge` is a pair of texts, or one text "left right".
bool read_merge(PyObject *merge, Utf8Texts &utf8, TextMerge &result) {
  if (PyUnicode_Check(merge)) {
    const std::optional<std::string_view> both = utf8.add(merge);
    return both && split_merge(*both, result);
  }
  const bool is_pair = (PyList_CheckExact(merge) || PyTuple_CheckExact(merge)) &&
                       PySequence_Fast_GET_SIZE(merge) == 2;
  if (!is_pair)
    return false;
  const auto left = utf8.add(PySequence_Fast_GET_ITEM(merge, 0));
  const auto right = utf8.add(PySequence_Fast_GET_ITEM(merge, 1));
  if (!left || !right)
    return false;
  result = {*left, *right};
  return true;
}

// Returns a vocabulary, or None if an argument is invalid. For None, the caller builds the
// vocabulary in Python, which raises the error. `loose` has the ids of the loose entries of
// `vocab` (formats/text_model.hpp).
py::object build_from_texts(const py::dict &vocab, const py::list &merges,
                            const std::vector<std::tuple<py::str, std::uint32_t, bool>> &added,
                            bool ignore_merges,
                            const std::unordered_set<std::uint32_t> &loose) {
  Utf8Texts utf8;
  TextModel source;
  source.ignore_merges = ignore_merges;
  if (!read_texts(vocab, loose, utf8, source))
    return py::none();
  source.merges.resize(merges.size());
  for (std::size_t rank = 0; rank < merges.size(); ++rank)
    if (!read_merge(merges[rank].ptr(), utf8, source.merges[rank]))
      return py::none();
  TokenizerSpec spec;
  for (const auto &[text, id, special] : added) {
    const std::optional<std::string_view> content = utf8.add(text.ptr());
    if (!content)
      return py::none();
    spec.added.emplace_back();
    spec.added.back().content = *content;
    spec.added.back().id = id;
    spec.added_special.push_back(special);
  }
  LoadError error;
  unlocked(source.texts.size(),
           [&] { error = build_vocabulary(source, TextIndex(source.texts), spec); });
  if (error)
    return py::none();
  return packed_merges(spec.vocabulary);
}

// Returns the bytes, lengths and ids of the texts; and the ids of the two tokens and of the
// result of each merge. Returns None if an argument is invalid. For None, the caller reads the
// merges in Python, which raises the error.
py::object merge_rows(const py::dict &vocab, const py::list &merges) {
  Utf8Texts utf8;
  TextModel source;
  if (!read_texts(vocab, {}, utf8, source) ||
      std::any_of(source.texts.begin(), source.texts.end(),
                  [](std::string_view text) { return text.empty(); }))
    return py::none();
  source.merges.resize(merges.size());
  for (std::size_t rank = 0; rank < merges.size(); ++rank)
    if (!read_merge(merges[rank].ptr(), utf8, source.merges[rank]))
      return py::none();
  VocabularyData data;
  unlocked(source.texts.size(), [&] {
    if (LoadError error = find_merges(source, TextIndex(source.texts), data.merges))
      data.merges.clear();
    for (const std::string_view text : source.texts) {
      data.bytes.insert(data.bytes.end(), text.begin(), text.end());
      data.lengths.push_back(static_cast<std::uint32_t>(text.size()));
    }
  });
  if (data.merges.size() != source.merges.size())
    return py::none();
  data.ids = std::move(source.ids);
  return packed_merges(data);
}

py::tuple text_options(const CharacterSpec &options) {
  const TextSpaces &spaces = options.spaces;
  const TextDecoding &decoding = options.decoding;
  const char *const prefix = spaces.prefix == TextSpaces::Prefix::NONE     ? "never"
                             : spaces.prefix == TextSpaces::Prefix::ALWAYS ? "always"
                                                                           : "unless_space";
  return py::make_tuple(
      prefix, spaces.only_first, spaces.replaces_invalid, options.splits_at_marks,
      options.unknown_id == NO_ID ? py::object(py::none()) : py::int_(options.unknown_id),
      decoding.is_sentencepiece, decoding.strips, decoding.strips_again, decoding.unknown);
}

// Returns all fields of a TokenizerSpec. Tests compare them with the fields that Python reads.
py::dict read_file(const py::bytes &data) {
  const auto *first = reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(data.ptr()));
  TokenizerSpec spec;
  const LoadError error =
      read_spec(first, static_cast<std::size_t>(PyBytes_GET_SIZE(data.ptr())), spec);
  py::dict result;
  if (error) {
    result["error"] = error.message;
    result["unsupported"] = error.kind == LoadError::UNSUPPORTED;
    return result;
  }
  VocabularyData &vocabulary = spec.vocabulary;
  result["packed"] = packed(vocabulary);
  result["merges"] = as_rows(vocabulary.merges);
  result["from_ranks"] = vocabulary.from_ranks;
  result["ignore_merges"] = vocabulary.ignore_merges;
  py::list added;
  for (std::size_t i = 0; i < spec.added.size(); ++i) {
    const AddedToken &token = spec.added[i];
    added.append(py::make_tuple(token.content, token.id, bool{spec.added_special[i]},
                                token.normalized, token.lstrip, token.rstrip,
                                token.single_word));
  }
  result["added"] = added;
  result["preset"] = spec.preset;
  result["why_no_preset"] = spec.why_no_preset;
  result["program"] = spec.program;
  result["unicode"] = spec.unicode;
  result["nfc"] = spec.nfc;
  result["add_prefix_space"] = spec.add_prefix_space;
  result["before"] = spec.before;
  result["after"] = spec.after;
  result["text"] = spec.characters ? text_options(*spec.characters) : py::object(py::none());
  return result;
}

} // namespace

void bind_loading(pybind11::module_ &module) {
  module.def("read_ranks", &read_ranks, py::arg("data"));
  module.def("read_pretok_file_tokens", &read_tokens, py::arg("data"), py::arg("at"),
             py::arg("from_ranks"));
  module.def("build_vocabulary", &build_from_texts, py::arg("vocab"), py::arg("merges"),
             py::arg("added"), py::arg("ignore_merges"), py::arg("loose"));
  module.def("merge_rows", &merge_rows, py::arg("vocab"), py::arg("merges"));
  module.def("read_spec", &read_file, py::arg("data")); // for tests
}

} // namespace pretok
