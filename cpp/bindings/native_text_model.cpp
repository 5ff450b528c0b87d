#include "bindings/native_text_model.hpp"

#include "bindings/convert.hpp"
#include "core/unicode/utf8_check.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <utility>

namespace pretok {
namespace {

void check_utf8_texts(const std::vector<std::string_view> &texts) {
  if (!std::all_of(texts.begin(), texts.end(), [](std::string_view text) {
        return is_utf8(reinterpret_cast<const std::uint8_t *>(text.data()), text.size());
      }))
    throw py::value_error("expected texts in UTF-8");
}

std::vector<std::uint32_t> fallback_of(const std::vector<std::uint32_t> &ids) {
  if (!ids.empty() && ids.size() != 256)
    throw py::value_error("expected an id for each of the 256 bytes, or none");
  return ids;
}

// Makes a NativeTextModel. An id of `fallback` or `unknown` is NO_ID if there is no such token.
// The tokens with the ids `whole` become a pre-token of the same text without merging.
std::shared_ptr<NativeTextModel> make_model(
    const py::bytes &data, const Array<std::uint32_t> &lengths, const Array<std::uint32_t> &ids,
    const Array<std::uint32_t> &merges, const std::optional<Array<std::uint32_t>> &whole,
    const std::vector<std::uint32_t> &fallback, std::uint32_t unknown, bool fuses_unknown,
    const std::string &prefix, const std::string &suffix, bool byte_level) {
  CharacterModel model;
  model.texts = texts_of(data, lengths);
  model.ids = as_vector(ids);
  model.merges = merges_of(merges);
  model.fallback = fallback_of(fallback);
  model.unknown = unknown;
  model.fuses_unknown = fuses_unknown;
  model.prefix = prefix;
  model.suffix = suffix;
  model.byte_level = byte_level;
  if (model.ids.size() != model.texts.size())
    throw py::value_error("expected as many ids as texts");
  check_utf8_texts(model.texts);
  if (whole) {
    std::vector<std::uint32_t> sorted = as_vector(*whole);
    std::sort(sorted.begin(), sorted.end());
    for (const std::uint32_t id : model.ids)
      model.is_whole.push_back(std::binary_search(sorted.begin(), sorted.end(), id));
  }
  return std::make_shared<NativeTextModel>(NativeTextModel{data, std::move(model)});
}

// Returns pieces with ranks. Some of `scores` may be equal. `fallback` has the ids of the
// fallback tokens of the 256 bytes; if it is empty, unknown characters have the id `unknown`.
std::unique_ptr<SharedPieceTable>
make_table(const py::bytes &data, const Array<std::uint32_t> &lengths,
           const Array<std::uint32_t> &ids, const Array<float> &scores,
           const std::vector<std::uint32_t> &fallback, std::uint32_t unknown) {
  const auto owned = std::make_shared<OwnedPieces>(data);
  ScoredPieces &normal = owned->normal;
  normal = {texts_of(data, lengths), as_vector(ids), as_vector(scores)};
  if (normal.ids.size() != normal.texts.size() || normal.scores.size() != normal.texts.size())
    throw py::value_error("expected an id and a score for each text");
  if (std::any_of(normal.ids.begin(), normal.ids.end(),
                  [](std::uint32_t id) { return id >= ID_LIMIT; }))
    throw py::value_error("expected ids below 16777216");
  check_utf8_texts(normal.texts);
  UnknownCharacters characters;
  characters.fallback.fill(NO_ID);
  const std::vector<std::uint32_t> listed = fallback_of(fallback);
  std::copy(listed.begin(), listed.end(), characters.fallback.begin());
  characters.id = unknown;
  unlocked(normal.texts.size(), [&] {
    owned->table.emplace(normal, characters);
    owned->table->set_ranks(normal);
  });
  return std::make_unique<SharedPieceTable>(
      SharedPieceTable{{owned, &*owned->table}, {owned, &owned->normal}, true});
}

// Returns the bytes, lengths and ids of the normal pieces, and their scores.
py::tuple arrays_of(const SharedPieceTable &pieces) {
  const ScoredPieces &normal = *pieces.normal;
  VocabularyData texts;
  for (const std::string_view text : normal.texts) {
    texts.bytes.insert(texts.bytes.end(), text.begin(), text.end());
    texts.lengths.push_back(static_cast<std::uint32_t>(text.size()));
  }
  texts.ids = normal.ids;
  return py::make_tuple(packed(texts), as_array(std::vector<float>(normal.scores)));
}

// Returns the merges of pieces with scores in order of rank. Returns None if find_piece_merges
// fails, for example because two pieces have equal scores.
py::object merges_of_table(const SharedPieceTable &pieces) {
  std::vector<Merge> merges;
  LoadError error;
  unlocked(pieces.normal->texts.size(),
           [&] { error = find_piece_merges(*pieces.normal, merges); });
  return error ? py::object(py::none()) : as_rows(merges);
}

const char *wrong_ids(const CharacterModel &model) {
  const auto is_wrong = [&](std::uint32_t id) { return id >= model.first_step; };
  const auto is_wrong_or_none = [&](std::uint32_t id) { return id != NO_ID && is_wrong(id); };
  const bool has_wrong =
      std::any_of(model.ids.begin(), model.ids.end(), is_wrong) ||
      std::any_of(model.merges.begin(), model.merges.end(),
                  [&](const Merge &merge) {
                    return is_wrong(merge.left) || is_wrong(merge.right) || is_wrong(merge.id);
                  }) ||
      std::any_of(model.fallback.begin(), model.fallback.end(), is_wrong_or_none) ||
      is_wrong_or_none(model.unknown);
  return has_wrong ? "expected ids below the limit of ids" : nullptr;
}

// Sets parts.stages. `may_search` says whether there is time to find out where text can be cut.
void choose_split(const CharacterModel &model, TextCuts cuts, bool may_search,
                  TextParts &parts) {
  if (cuts == TextCuts::AT_MARKS)
    parts.stages = cut_at_marks(false, model.has_spaces);
  else if (cuts == TextCuts::WHOLE)
    parts.stages = may_search && model.allows_cuts() ? cut_at_marks(true, model.has_spaces)
                                                     : cut_nowhere();
}

const char *build_model(const CharacterModel &model, VocabularyData &&tokens, TextCuts cuts,
                        Vocabulary &vocabulary, TextParts &parts) {
  if (const char *const problem = wrong_ids(model))
    return problem;
  choose_split(model, cuts, !tokens.for_short_texts, parts);
  parts.is_whole = cuts == TextCuts::WHOLE && !tokens.for_short_texts && model.merges_bytes();
  return build_characters(model, std::move(tokens), vocabulary);
}

const char *build_pieces(const SharedPieceTable &pieces, VocabularyData &&tokens,
                         std::uint32_t id_limit, bool has_spaces, TextCuts cuts,
                         Vocabulary &vocabulary, TextParts &parts) {
  CharacterModel model;
  model.has_spaces = has_spaces;
  const UnknownCharacters &unknown = pieces.table->unknown();
  if (!unknown.has_fallback() && unknown.id == NO_ID)
    return "expected a fallback token for each byte, or an unknown token";
  if (!tokens.for_short_texts) {
    model.first_step = id_limit;
    model.texts = pieces.normal->texts;
    model.ids = pieces.normal->ids;
    model.unknown = unknown.id;
    model.fuses_unknown = true;
    if (unknown.has_fallback())
      model.fallback.assign(unknown.fallback.begin(), unknown.fallback.end());
    if (!find_piece_merges(*pieces.normal, model.merges))
      return build_model(model, std::move(tokens), cuts, vocabulary, parts);
    // No list of merges gives the same ids. For allows_cuts, each piece is the result of a
    // merge.
    for (const std::uint32_t id : model.ids)
      model.merges.push_back({id, id, id});
    if (const char *const problem = wrong_ids(model))
      return problem;
  }
  if (!pieces.is_ordered)
    return "expected pieces that are ordered";
  choose_split(model, cuts, !tokens.for_short_texts, parts);
  return vocabulary.build(
      std::move(tokens),
      std::make_unique<PieceMerge>(pieces.table,
                                   has_spaces ? PieceUnits::MARKED : PieceUnits::CHARACTERS));
}

} // namespace

const char *build_text(const AnyTextModel &any, VocabularyData &&tokens, std::uint32_t id_limit,
                       bool has_spaces, TextCuts cuts, Vocabulary &vocabulary,
                       TextParts &parts) {
  const auto is_wrong = [&](std::uint32_t id) { return id >= id_limit; };
  if (id_limit > ID_LIMIT || std::any_of(tokens.ids.begin(), tokens.ids.end(), is_wrong))
    return "expected ids below the limit of ids, which is at most 16777216";
  CharacterModel model;
  if (const auto *text = std::get_if<std::shared_ptr<NativeTextModel>>(&any)) {
    model = (*text)->model;
    model.has_spaces = has_spaces;
    model.first_step = id_limit;
    return build_model(model, std::move(tokens), cuts, vocabulary, parts);
  }
  return build_pieces(std::get<SharedPieceTable>(any), std::move(tokens), id_limit, has_spaces,
                      cuts, vocabulary, parts);
}

const char *build_ranks(const py::bytes &bytes, VocabularyData &&tokens,
                        Vocabulary &vocabulary) {
  struct Owned {
    explicit Owned(py::bytes memory) : bytes(std::move(memory)) {}

    py::bytes bytes;
    std::optional<PieceTable> table;
  };
  const auto owned = std::make_shared<Owned>(bytes);
  std::string_view rest = view_of(bytes);
  std::vector<std::string_view> texts;
  for (std::size_t i = 0; i < tokens.mergeable; ++i) {
    if (i >= tokens.lengths.size() || i >= tokens.ids.size() || tokens.lengths[i] > rest.size())
      return "expected as many lengths and ids as tokens, and all bytes of the tokens";
    texts.push_back(rest.substr(0, tokens.lengths[i]));
    rest.remove_prefix(tokens.lengths[i]);
  }
  std::vector<std::uint32_t> ids(
      tokens.ids.begin(), tokens.ids.begin() + static_cast<std::ptrdiff_t>(tokens.mergeable));
  owned->table.emplace(std::move(texts), std::move(ids));
  tokens.merges.clear();
  return vocabulary.build(
      std::move(tokens),
      std::make_unique<PieceMerge>(std::shared_ptr<const PieceTable>(owned, &*owned->table),
                                   PieceUnits::BYTES));
}

void bind_text_model(py::module_ &module) {
  py::class_<NativeTextModel, std::shared_ptr<NativeTextModel>>(module, "TextModel")
      .def(py::init(&make_model), py::arg("data"), py::arg("lengths"), py::arg("ids"),
           py::arg("merges"), py::arg("whole").none(true), py::arg("fallback"),
           py::arg("unknown"), py::arg("fuses_unknown"), py::arg("prefix"), py::arg("suffix"),
           py::arg("byte_level"));
  py::class_<SharedPieceTable>(module, "PieceTable")
      .def(py::init(&make_table), py::arg("data"), py::arg("lengths"), py::arg("ids"),
           py::arg("scores"), py::arg("fallback"), py::arg("unknown"))
      .def_property_readonly("size",
                             [](const SharedPieceTable &self) { return self.table->size(); })
      .def_property_readonly(
          "normal_size", [](const SharedPieceTable &self) { return self.normal->ids.size(); })
      .def_readonly("is_ordered", &SharedPieceTable::is_ordered)
      .def_property_readonly("has_mark",
                             [](const SharedPieceTable &self) {
                               return self.table->find(SPACE_MARK).rank != NO_RANK;
                             })
      .def("arrays", &arrays_of)
      .def("merges", &merges_of_table);
}

} // namespace pretok
