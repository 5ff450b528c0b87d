// Makes the C++ functions for vocabularies whose merges start from characters, such as those of
// SentencePiece, callable from Python.
#include "bindings/convert.hpp"
#include "bindings/loading.hpp"
#include "bindings/packed_tokens.hpp"
#include "core/base/ids.hpp"
#include "core/unicode/utf8.hpp"
#include "formats/character_model.hpp"
#include "formats/piece_file.hpp"
#include "formats/piece_merges.hpp"
#include "formats/rank_file.hpp"

#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

// Returns the parts of a .model of SentencePiece: the bytes, lengths and ids of its normal
// pieces, and their scores; a list of (id, text, score, type) of all other pieces; and the
// protobuf messages trainer_spec, normalizer_spec and denormalizer_spec, as bytes. Returns None
// if the file is damaged, or has a piece of type UNUSED, equal pieces or a normal piece with
// the score NaN. For None, the caller reads the file in Python, which may raise an error.
py::object read_pieces(const py::bytes &data) {
  PieceFile file;
  VocabularyData normal;
  std::vector<float> scores;
  std::vector<std::uint32_t> others;
  bool is_valid = false;
  const std::string_view bytes = view_of(data);
  unlocked(bytes.size(), [&] {
    if (read_piece_file(bytes, file))
      return;
    std::vector<std::uint8_t> texts;
    std::vector<std::uint32_t> lengths;
    texts.reserve(bytes.size());
    normal.bytes.reserve(bytes.size());
    for (std::uint32_t id = 0; id < file.pieces.size(); ++id) {
      const auto &[text, score, type] = file.pieces[id];
      if (type == PieceType::UNUSED || (type == PieceType::NORMAL && score != score))
        return;
      const auto *const first = reinterpret_cast<const std::uint8_t *>(text.data());
      texts.insert(texts.end(), first, first + text.size());
      lengths.push_back(static_cast<std::uint32_t>(text.size()));
      if (type != PieceType::NORMAL) {
        others.push_back(id);
        continue;
      }
      normal.bytes.insert(normal.bytes.end(), first, first + text.size());
      normal.lengths.push_back(lengths.back());
      normal.ids.push_back(id);
      scores.push_back(score);
    }
    is_valid = tokens_differ(texts, lengths);
  });
  if (!is_valid)
    return py::none();
  py::list listed;
  for (const std::uint32_t id : others) {
    const Piece &piece = file.pieces[id];
    listed.append(py::make_tuple(id, piece.text, piece.score, piece.type));
  }
  return py::make_tuple(packed(normal), as_array(std::move(scores)), listed,
                        py::make_tuple(py::bytes(file.trainer), py::bytes(file.normalizer),
                                       py::bytes(file.denormalizer)));
}

// Returns the merges of pieces with scores. Returns None if find_piece_merges fails, for
// example because two pieces have equal scores. For None, the caller finds the merges in
// Python.
py::object piece_merges(const py::bytes &data, const Array<std::uint32_t> &lengths,
                        const Array<std::uint32_t> &ids, const Array<float> &scores) {
  const ScoredPieces pieces{texts_of(data, lengths), as_vector(ids), as_vector(scores)};
  if (pieces.ids.size() != pieces.texts.size() || pieces.scores.size() != pieces.texts.size())
    throw py::value_error("expected an id and a score for each text");
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
  if (model.ids.size() != model.texts.size() ||
      std::any_of(model.ids.begin(), model.ids.end(), is_free))
    throw py::value_error("expected as many ids as texts, and only ids below first_step");
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
  module.def("read_pieces", &read_pieces, py::arg("data"));
  module.def("piece_merges", &piece_merges, py::arg("data"), py::arg("lengths"), py::arg("ids"),
             py::arg("scores"));
  module.def("build_characters", &build_from_characters, py::arg("data"), py::arg("lengths"),
             py::arg("ids"), py::arg("merges"), py::arg("fallback"), py::arg("first_step"),
             py::arg("has_spaces"));
  module.def("find_inner_marks", &find_inner_marks, py::arg("data"), py::arg("lengths"));
}

} // namespace pretok
