// Makes the C++ functions for vocabularies whose merges start from characters, such as those of
// SentencePiece, callable from Python.
#include "bindings/character_arrays.hpp"
#include "bindings/convert.hpp"
#include "bindings/loading.hpp"
#include "bindings/packed_tokens.hpp"
#include "core/base/ids.hpp"
#include "core/unicode/utf8.hpp"
#include "core/unicode/utf8_check.hpp"
#include "formats/character_model.hpp"
#include "formats/piece_file.hpp"
#include "formats/piece_merge.hpp"
#include "formats/piece_merges.hpp"
#include "formats/protobuf_reader.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

// The pieces of a file, and the file that they view.
struct OwnedPieces {
  explicit OwnedPieces(py::bytes bytes) : file(std::move(bytes)) {}

  py::bytes file;
  std::optional<PieceTable> table;
  ScoredPieces normal;
};

// Texts with ids, as bpe.vocabulary.Packed has them.
struct PackedTexts {
  void add(std::string_view text, std::uint32_t id) {
    bytes += text;
    lengths.push_back(static_cast<std::uint32_t>(text.size()));
    ids.push_back(id);
  }
  py::tuple as_tuple() {
    return py::make_tuple(py::bytes(bytes), as_array(std::move(lengths)),
                          as_array(std::move(ids)));
  }

  std::string bytes;
  std::vector<std::uint32_t> lengths;
  std::vector<std::uint32_t> ids;
};

// Sets `ids` to the ids of the fallback tokens of the 256 bytes if `pieces` has all of them and
// no other pieces of type BYTE.
void list_fallback(const std::vector<Piece> &pieces, const PieceTable &table,
                   std::vector<std::uint32_t> &ids) {
  const auto count = std::count_if(pieces.begin(), pieces.end(), [](const Piece &piece) {
    return piece.type == PieceType::BYTE;
  });
  const UnknownCharacters &unknown = table.unknown();
  if (count == 256 && unknown.has_fallback())
    ids.assign(unknown.fallback.begin(), unknown.fallback.end());
}

bool is_no_id(std::uint32_t id) { return id >= ID_LIMIT; }

void check_utf8_texts(const std::vector<std::string_view> &texts) {
  if (!std::all_of(texts.begin(), texts.end(), [](std::string_view text) {
        return is_utf8(reinterpret_cast<const std::uint8_t *>(text.data()), text.size());
      }))
    throw py::value_error("expected texts in UTF-8");
}

// Throws py::value_error unless each text is UTF-8 and has an id and a score.
void check_scored(const ScoredPieces &pieces) {
  if (pieces.ids.size() != pieces.texts.size() || pieces.scores.size() != pieces.texts.size())
    throw py::value_error("expected an id and a score for each text");
  if (std::any_of(pieces.ids.begin(), pieces.ids.end(), is_no_id))
    throw py::value_error("expected ids below 16777216");
  check_utf8_texts(pieces.texts);
}

// Returns a dict with the last value of each field of a protobuf message, by the number of the
// field. Returns the message itself if it is damaged.
py::object fields_of(std::string_view message) {
  // A model may list a thousand control symbols, so make objects only of the last values.
  std::map<std::uint32_t, ProtobufField> last;
  ProtobufReader reader(message);
  for (ProtobufField field; reader.next(field);)
    last[field.number] = field;
  py::dict fields;
  for (const auto &[number, field] : last)
    if (field.is_number)
      fields[py::int_(number)] = field.value;
    else
      fields[py::int_(number)] = py::bytes(field.bytes.data(), field.bytes.size());
  return *reader.damage() == '\0' ? py::object(fields)
                                  : py::bytes(message.data(), message.size());
}

// Returns the parts of a .model of SentencePiece:
//   - a PieceTable of its pieces;
//   - the ids of the fallback tokens of the 256 bytes; empty if some of these tokens are
//     missing, or if any other piece has the type BYTE;
//   - the bytes, lengths and ids of its control symbols;
//   - a list of (id, text, score, type) of all other pieces that are not normal;
//   - fields_of the protobuf messages trainer_spec, normalizer_spec and denormalizer_spec.
// Returns None if the file is damaged, or has a piece of type UNUSED, equal pieces, a control
// symbol of one character, or a normal piece with the score NaN. For None, the caller reads the
// file in Python, which may raise an error.
py::object read_pieces(const py::bytes &data) {
  PieceFile file;
  PackedTexts controls;
  std::vector<std::uint32_t> others;
  std::vector<std::uint32_t> fallback;
  const auto owned = std::make_shared<OwnedPieces>(data);
  bool is_valid = false;
  PieceOrder order;
  bool is_ordered = false;
  const std::string_view bytes = view_of(data);
  unlocked(bytes.size(), [&] {
    if (read_piece_file(bytes, file))
      return;
    PieceTable &table = owned->table.emplace(file.pieces);
    if (!table.are_different())
      return;
    list_fallback(file.pieces, table, fallback);
    ScoredPieces &normal = owned->normal;
    normal.texts.reserve(file.pieces.size());
    normal.ids.reserve(file.pieces.size());
    normal.scores.reserve(file.pieces.size());
    for (std::uint32_t id = 0; id < file.pieces.size(); ++id) {
      const auto &[text, score, type] = file.pieces[id];
      if (type == PieceType::UNUSED || (type == PieceType::NORMAL && score != score) ||
          (type == PieceType::CONTROL && count_characters(text) == 1))
        return;
      if (type == PieceType::NORMAL) {
        normal.texts.push_back(text);
        normal.ids.push_back(id);
        normal.scores.push_back(score);
      } else if (type == PieceType::CONTROL) {
        controls.add(text, id);
      } else if (type != PieceType::BYTE || fallback.empty()) {
        others.push_back(id);
      }
    }
    is_valid = true;
    is_ordered = !order_pieces(normal, order);
    if (is_ordered)
      table.set_ranks(normal, order);
  });
  if (!is_valid)
    return py::none();
  py::list listed;
  for (const std::uint32_t id : others) {
    const Piece &piece = file.pieces[id];
    listed.append(py::make_tuple(id, piece.text, piece.score, piece.type));
  }
  SharedPieceTable table{{owned, &*owned->table},
                         {owned, &owned->normal},
                         is_ordered,
                         std::move(order.run_merges)};
  return py::make_tuple(std::move(table), fallback, controls.as_tuple(), listed,
                        py::make_tuple(fields_of(file.trainer), fields_of(file.normalizer),
                                       fields_of(file.denormalizer)));
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
  check_scored(normal);
  UnknownCharacters characters;
  if (!(fallback.empty() || fallback.size() == characters.fallback.size()) ||
      std::any_of(fallback.begin(), fallback.end(), is_no_id) || is_no_id(unknown))
    throw py::value_error("expected no fallback ids or 256, below 16777216");
  characters.fallback.fill(NO_ID);
  std::copy(fallback.begin(), fallback.end(), characters.fallback.begin());
  characters.id = unknown;
  unlocked(normal.texts.size(), [&] {
    owned->table.emplace(normal, characters);
    owned->table->set_ranks(normal);
  });
  return std::make_unique<SharedPieceTable>(
      SharedPieceTable{{owned, &*owned->table}, {owned, &owned->normal}, true, {}});
}

// Returns the bytes, lengths and ids of the normal pieces, and their scores.
py::tuple arrays_of(const SharedPieceTable &pieces) {
  const ScoredPieces &normal = *pieces.normal;
  PackedTexts texts;
  for (std::size_t i = 0; i < normal.texts.size(); ++i)
    texts.add(normal.texts[i], normal.ids[i]);
  return py::make_tuple(texts.as_tuple(), as_array(std::vector<float>(normal.scores)));
}

// Returns the merges of pieces with scores. Returns None if find_piece_merges fails, for
// example because two pieces have equal scores. For None, the caller finds the merges in
// Python.
py::object piece_merges(const py::bytes &data, const Array<std::uint32_t> &lengths,
                        const Array<std::uint32_t> &ids, const Array<float> &scores) {
  const ScoredPieces pieces{texts_of(data, lengths), as_vector(ids), as_vector(scores)};
  check_scored(pieces);
  std::vector<Merge> merges;
  LoadError error;
  unlocked(pieces.texts.size(), [&] { error = find_piece_merges(pieces, merges); });
  return error ? py::object(py::none()) : as_rows(merges);
}

// Converts a vocabulary whose merges start from characters to a vocabulary whose merges start
// from bytes (CharacterModel). `fallback` has the ids of the fallback tokens of the 256 bytes,
// or is empty. A step is a symbol that only merging needs, such as the first bytes of a
// character. Steps get ids from `first_step` on. If `has_spaces`, each mark in a text becomes a
// space. The caller has checked the texts and the merges.
py::tuple build_from_characters(const py::bytes &data, const Array<std::uint32_t> &lengths,
                                const Array<std::uint32_t> &ids,
                                const Array<std::uint32_t> &merges,
                                const std::vector<std::uint32_t> &fallback,
                                std::uint32_t first_step, bool has_spaces) {
  const CharacterModel model{texts_of(data, lengths),
                             as_vector(ids),
                             merges_of(merges),
                             fallback,
                             first_step,
                             has_spaces};
  const auto is_free = [first_step](std::uint32_t id) { return id >= first_step; };
  if (first_step > ID_LIMIT || model.ids.size() != model.texts.size() ||
      std::any_of(model.ids.begin(), model.ids.end(), is_free))
    throw py::value_error("expected as many ids as texts, and only ids below first_step");
  if (std::any_of(model.merges.begin(), model.merges.end(), [&](const Merge &merge) {
        return is_free(merge.left) || is_free(merge.right) || is_free(merge.id);
      }))
    throw py::value_error("expected merges of ids below first_step");
  if (!(fallback.empty() || fallback.size() == 256) ||
      std::any_of(fallback.begin(), fallback.end(), is_free))
    throw py::value_error("expected no fallback ids or 256, below first_step");
  check_utf8_texts(model.texts);
  VocabularyData result;
  unlocked(model.texts.size(), [&] { build_characters(model, result); });
  return packed_merges(result);
}

// Returns the indices of the texts that have a mark ("▁") after a character that is not a mark.
py::array find_inner_marks(const py::bytes &data, const Array<std::uint32_t> &lengths) {
  std::vector<std::uint32_t> indices;
  std::uint32_t index = 0;
  for (std::string_view text : texts_of(data, lengths)) {
    while (text.substr(0, SPACE_MARK.size()) == SPACE_MARK)
      text.remove_prefix(SPACE_MARK.size());
    if (!is_ascii(reinterpret_cast<const std::uint8_t *>(text.data()), text.size()) &&
        text.find(SPACE_MARK) != std::string_view::npos)
      indices.push_back(index);
    ++index;
  }
  return as_array(std::move(indices));
}

} // namespace

void bind_piece_loading(pybind11::module_ &module) {
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
      .def_property_readonly("run_merges",
                             [](const SharedPieceTable &self) {
                               py::list merges;
                               for (const Merge &merge : self.run_merges)
                                 merges.append(
                                     py::make_tuple(merge.left, merge.right, merge.id));
                               return merges;
                             })
      .def("arrays", &arrays_of);
  module.def("read_pieces", &read_pieces, py::arg("data"));
  module.def("piece_merges", &piece_merges, py::arg("data"), py::arg("lengths"), py::arg("ids"),
             py::arg("scores"));
  module.def("build_characters", &build_from_characters, py::arg("data"), py::arg("lengths"),
             py::arg("ids"), py::arg("merges"), py::arg("fallback"), py::arg("first_step"),
             py::arg("has_spaces"));
  module.def("find_inner_marks", &find_inner_marks, py::arg("data"), py::arg("lengths"));
}

} // namespace pretok
