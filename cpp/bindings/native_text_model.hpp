// The vocabularies of Python whose merges start from characters.
#pragma once

#include "bindings/packed_tokens.hpp"
#include "core/base/ids.hpp"
#include "formats/character_model.hpp"
#include "formats/piece_merge.hpp"
#include "formats/piece_merges.hpp"

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace pretok {

// A CharacterModel without first_step and has_spaces, and the bytes that its texts view.
struct NativeTextModel {
  py::bytes bytes;
  CharacterModel model;
};

// The pieces of a SentencePiece model, and the file that they view.
struct OwnedPieces {
  explicit OwnedPieces(py::bytes bytes) : file(std::move(bytes)) {}

  py::bytes file;
  std::optional<PieceTable> table;
  ScoredPieces normal;
};

// The pieces of a SentencePiece model, which have scores. Their memory includes the file that
// they view.
struct SharedPieceTable {
  std::shared_ptr<const PieceTable> table;
  std::shared_ptr<const ScoredPieces> normal;
  bool is_ordered = false; // whether `table` has ranks
};

using AnyTextModel = std::variant<std::shared_ptr<NativeTextModel>, SharedPieceTable>;

// Says how much of the text a model splits: all of it (SPLIT), only before each mark, or before
// the spaces that stand for marks (AT_MARKS), or nothing (WHOLE).
enum class TextCuts { SPLIT, AT_MARKS, WHOLE };

// The parts of an encoder that a model determines.
struct TextParts {
  std::vector<StageProgram> stages; // replace the pre-tokenizer, unless empty
  bool is_whole = false;            // the argument of Encoder
};

// Builds `vocabulary` from a model, with `tokens` for decoding. No token has the id `id_limit`
// or a larger one. tokens.for_short_texts counts too. If `has_spaces`, spaces stand for the
// marks of pieces. Does not need the GIL. Returns nullptr, or a message that says what is
// wrong.
const char *build_text(const AnyTextModel &model, VocabularyData &&tokens,
                       std::uint32_t id_limit, bool has_spaces, TextCuts cuts,
                       Vocabulary &vocabulary, TextParts &parts);

// Builds `vocabulary` for short texts. The ids of `tokens` are ranks, and `bytes` has their
// bytes. Needs the GIL.
const char *build_ranks(const py::bytes &bytes, VocabularyData &&tokens,
                        Vocabulary &vocabulary);

void bind_text_model(py::module_ &module);

} // namespace pretok
