// Makes the reader of SentencePiece models callable from Python.
#include "bindings/convert.hpp"
#include "bindings/loading.hpp"
#include "bindings/native_text_model.hpp"
#include "bindings/packed_tokens.hpp"
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
  SharedPieceTable table{{owned, &*owned->table}, {owned, &owned->normal}, is_ordered};
  return py::make_tuple(std::move(table), fallback, controls.as_tuple(), listed,
                        py::make_tuple(fields_of(file.trainer), fields_of(file.normalizer),
                                       fields_of(file.denormalizer)));
}

} // namespace

void bind_piece_loading(pybind11::module_ &module) {
  module.def("read_pieces", &read_pieces, py::arg("data"));
}

} // namespace pretok
