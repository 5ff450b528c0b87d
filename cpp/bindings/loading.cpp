#include "bindings/loading.hpp"

#include "bindings/convert.hpp"
#include "bindings/json_model.hpp"
#include "bindings/packed_tokens.hpp"
#include "bindings/utf8_texts.hpp"
#include "core/base/ids.hpp"
#include "formats/character_spec.hpp"
#include "formats/pretok_file.hpp"
#include "formats/rank_file.hpp"
#include "formats/read_spec.hpp"
#include "formats/text_model.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

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

// Adds the texts and ids of `vocab` to `source`. The texts in `source` are views: `utf8` owns
// the memory. Returns false if an id is invalid or repeated, or if a text has a lone surrogate.
// `loose` has the ids of the loose entries. A loose entry is a token only if a merge names its
// text, or if its text stands for an ASCII byte.
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

// Reads a merge: a pair of texts, or one text "left right". Returns false if it is neither.
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

// The object `vocab` and the list `merges` of a tokenizer.json.
class NativeJsonModel {
public:
  explicit NativeJsonModel(py::bytes file) : file_(std::move(file)) {}

  bool read() {
    const std::string_view file = view_of(file_);
    bool is_read = false;
    unlocked(file.size(), [&] { is_read = model_.read(file); });
    return is_read;
  }

  py::bytes rest() const { return model_.rest(); }

  const JsonModel &model() const { return model_; }
  std::size_t size() const { return model_.source().texts.size(); }

  // Returns the id of a text, or None.
  std::optional<std::uint32_t> find(const py::str &text) const {
    Py_ssize_t size = 0;
    const char *const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (utf8 == nullptr) { // a lone surrogate
      PyErr_Clear();
      return std::nullopt;
    }
    const std::uint32_t place = model_.places().find({utf8, static_cast<std::size_t>(size)});
    return place == TextIndex::NO_TEXT ? std::nullopt
                                       : std::optional(model_.source().ids[place]);
  }

  // Returns the id of each text, or None.
  std::vector<std::optional<std::uint32_t>> find_all(const std::vector<py::str> &texts) const {
    std::vector<std::optional<std::uint32_t>> ids;
    for (const py::str &text : texts)
      ids.push_back(find(text));
    return ids;
  }

  py::dict ids() const {
    py::dict result;
    for (std::size_t i = 0; i < size(); ++i)
      result[py::str(model_.source().texts[i])] = model_.source().ids[i];
    return result;
  }

  py::list pairs() const {
    py::list result;
    for (const auto &[left, right] : model_.source().merges)
      result.append(py::make_tuple(left, right));
    return result;
  }

private:
  py::bytes file_;
  JsonModel model_;
};

// Returns a tokenizer.json in two parts: the file without its vocabulary and merges
// (JsonModel::rest), and a NativeJsonModel with the vocabulary and the merges. Returns
// None if JsonModel::read returns false. For None, Python reads the whole file.
py::object read_json_model(const py::bytes &file) {
  auto model = std::make_unique<NativeJsonModel>(file);
  if (!model->read())
    return py::none();
  const py::bytes rest = model->rest();
  return py::make_tuple(rest, py::cast(std::move(model)));
}

// The texts, ids and merges of a vocabulary, with an index of the texts.
class ModelArguments {
public:
  // `vocab` is a NativeJsonModel, which has the merges too, or a dict of texts and ids.
  // `merges` is used only with a dict. Returns false if the vocabulary or a merge is invalid.
  bool read(const py::object &vocab, const py::list &merges,
            const std::unordered_set<std::uint32_t> &loose) {
    if (py::isinstance<NativeJsonModel>(vocab)) {
      const JsonModel &model = vocab.cast<const NativeJsonModel &>().model();
      source = model.source();
      places_ = &model.places();
      for (const std::uint32_t id : source.ids)
        if (!loose.empty())
          source.loose.push_back(loose.count(id) != 0);
      return true;
    }
    if (!read_texts(cast_argument<py::dict>(vocab, "a dict or a JsonModel"), loose, utf8,
                    source))
      return false;
    source.merges.resize(merges.size());
    for (std::size_t rank = 0; rank < merges.size(); ++rank)
      if (!read_merge(merges[rank].ptr(), utf8, source.merges[rank]))
        return false;
    return true;
  }

  // Does not need the GIL.
  const TextIndex &places() {
    if (places_ == nullptr)
      places_ = &own_places_.emplace(source.texts);
    return *places_;
  }

  Utf8Texts utf8;
  TextModel source;

private:
  std::optional<TextIndex> own_places_;
  const TextIndex *places_ = nullptr;
};

// Returns a vocabulary, or None if an argument is invalid. For None, the caller builds the
// vocabulary in Python, which raises the error. `loose` has the ids of the loose entries of
// `vocab`; see read_texts.
py::object build_from_texts(const py::object &vocab, const py::list &merges,
                            const std::vector<std::tuple<py::str, std::uint32_t, bool>> &added,
                            bool ignore_merges,
                            const std::unordered_set<std::uint32_t> &loose) {
  ModelArguments arguments;
  if (!arguments.read(vocab, merges, loose))
    return py::none();
  arguments.source.ignore_merges = ignore_merges;
  TokenizerSpec spec;
  for (const auto &[text, id, special] : added) {
    const std::optional<std::string_view> content = arguments.utf8.add(text.ptr());
    if (!content)
      return py::none();
    spec.added.emplace_back();
    spec.added.back().content = *content;
    spec.added.back().id = id;
    spec.added_special.push_back(special);
  }
  LoadError error;
  const TextModel &source = arguments.source;
  unlocked(source.texts.size(),
           [&] { error = build_vocabulary(source, arguments.places(), spec); });
  if (error)
    return py::none();
  return packed_merges(spec.vocabulary);
}

// Returns four objects: the bytes of all texts, their lengths, their ids, and an array with one
// row for each merge. A row has the ids of the left token, of the right token and of the
// result. Returns None if an argument is invalid. For None, the caller reads the
// merges in Python, which raises the error.
py::object merge_rows(const py::object &vocab, const py::list &merges) {
  ModelArguments arguments;
  if (!arguments.read(vocab, merges, {}))
    return py::none();
  TextModel &source = arguments.source;
  if (std::any_of(source.texts.begin(), source.texts.end(),
                  [](std::string_view text) { return text.empty(); }))
    return py::none();
  VocabularyData data;
  unlocked(source.texts.size(), [&] {
    if (LoadError error = find_merges(source, arguments.places(), data.merges))
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

py::object id_or_none(std::uint32_t id) {
  return id == NO_ID ? py::object(py::none()) : py::int_(id);
}

// Returns the fields of a CharacterSpec that the reader in Python stores too: all but
// `is_normalizer` and some members of `spaces`.
py::tuple text_options(const CharacterSpec &options) {
  py::object normalizer = py::none();
  if (options.normalizer) {
    const auto &[prefix, removes, escapes, suffix] = options.normalizer->options;
    const std::vector<std::uint8_t> &charsmap = options.normalizer->charsmap;
    normalizer = py::make_tuple(
        py::bytes(reinterpret_cast<const char *>(charsmap.data()), charsmap.size()), prefix,
        removes, escapes, suffix);
  }
  const TextSpaces &spaces = options.spaces;
  const TextDecoding &decoding = options.decoding;
  const char *const prefix = spaces.prefix == TextSpaces::Prefix::NONE     ? "never"
                             : spaces.prefix == TextSpaces::Prefix::ALWAYS ? "always"
                                                                           : "unless_space";
  return py::make_tuple(prefix, spaces.only_first, spaces.replaces_invalid,
                        options.splits_at_marks, id_or_none(options.unknown_id),
                        decoding.is_sentencepiece, decoding.strips, decoding.strips_again,
                        decoding.unknown, options.has_fallback, options.fuses_unknown,
                        normalizer);
}

// Returns the fields of a TextSpec.
py::tuple text_fields(const TextSpec &text) {
  return py::make_tuple(id_or_none(text.unknown_id), text.fuses_unknown, text.has_fallback,
                        text.byte_level, text.prefix, text.suffix);
}

// Returns the kinds of the steps of the normalizer, whether there is a Metaspace, and the kinds
// of the steps of the decoder.
py::tuple steps_of(const TokenizerSpec &spec) {
  py::list steps;
  for (const NormalizerStep &step : spec.steps)
    steps.append(static_cast<int>(step.kind));
  py::object decoder = py::none();
  if (spec.decoder) {
    py::list kinds;
    for (const DecoderStep &step : *spec.decoder)
      kinds.append(static_cast<int>(step.kind));
    decoder = kinds;
  }
  return py::make_tuple(steps, spec.metaspace.has_value(), decoder);
}

// Reads a file in C++ and returns all fields of its TokenizerSpec. Tests compare these fields
// with the fields that the reader in Python returns.
py::dict read_file(const py::bytes &data) {
  const auto *first = reinterpret_cast<const std::uint8_t *>(PyBytes_AS_STRING(data.ptr()));
  TokenizerSpec spec;
  LoadError error =
      read_spec(first, static_cast<std::size_t>(PyBytes_GET_SIZE(data.ptr())), spec);
  if (!error && !spec.scores.empty())
    error = find_piece_merges(scored_pieces(spec), spec.vocabulary.merges);
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
  if (spec.text)
    result["text"] = text_fields(*spec.text);
  result["steps"] = steps_of(spec);
  result["truncation"] = spec.truncation;
  result["padding"] = spec.padding;
  result["trims"] = spec.trims;
  py::list ignored;
  for (const IgnoredId &each : spec.ignored_ids)
    ignored.append(py::make_tuple(spec.added[each.index].content, each.id));
  result["ignored_ids"] = ignored;
  return result;
}

} // namespace

void bind_loading(pybind11::module_ &module) {
  module.def("read_ranks", &read_ranks, py::arg("data"));
  module.def("read_pretok_file_tokens", &read_tokens, py::arg("data"), py::arg("at"),
             py::arg("from_ranks"));
  py::class_<NativeJsonModel>(module, "JsonModel")
      .def("__len__", on_self(&NativeJsonModel::size))
      .def("find", &NativeJsonModel::find, py::arg("text"))
      .def("find_all", &NativeJsonModel::find_all, py::arg("texts"))
      .def("ids", on_self(&NativeJsonModel::ids))
      .def("pairs", on_self(&NativeJsonModel::pairs));
  module.def("read_json_model", &read_json_model, py::arg("file"));
  module.def("build_vocabulary", &build_from_texts, py::arg("vocab"), py::arg("merges"),
             py::arg("added"), py::arg("ignore_merges"), py::arg("loose"));
  module.def("merge_rows", &merge_rows, py::arg("vocab"), py::arg("merges"));
  module.def("read_spec", &read_file, py::arg("data")); // for tests
}

} // namespace pretok
