// Reads the pieces and the option messages of a SentencePiece model.
#pragma once

#include "core/encode/token_facts.hpp"
#include "formats/load_error.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

struct Piece {
  std::string_view text; // valid UTF-8, not empty
  float score = 0;
  TokenType type = TokenType::NORMAL;
};

// The parts of a model, as protobuf stores them.
struct PieceFile {
  std::vector<Piece> pieces; // by id
  std::string trainer;
  std::string normalizer;
  std::string denormalizer;
};

// Fills `file`. Its pieces view `data`. Callers must check for equal pieces and for the score
// NaN.
LoadError read_piece_file(std::string_view data, PieceFile &file);

// Returns the number of characters of valid UTF-8.
std::size_t count_characters(std::string_view text);

} // namespace pretok
