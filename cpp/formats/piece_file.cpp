#include "formats/piece_file.hpp"

#include "core/base/ids.hpp"
#include "core/unicode/utf8.hpp"
#include "formats/character_model.hpp"
#include "formats/protobuf_reader.hpp"

#include <algorithm>
#include <cstring>

namespace pretok {
namespace {

constexpr std::size_t MAX_PIECE = 1 << 12; // characters

struct ModelField {
  enum : std::uint32_t { PIECE = 1, TRAINER = 2, NORMALIZER = 3, DENORMALIZER = 5 };
};
struct PieceField {
  enum : std::uint32_t { TEXT = 1, SCORE = 2, TYPE = 3 };
};
// The tags of these fields: the number of the field, and the wire type of its value.
constexpr char TEXT_TAG = PieceField::TEXT << 3 | 2;
constexpr char SCORE_TAG = PieceField::SCORE << 3 | 5;
constexpr char TYPE_TAG = PieceField::TYPE << 3 | 0;

// Reads 4 bytes, the lowest first. Compilers make one load of this, but not of a loop.
float read_float(const char *bytes) {
  const auto byte = [bytes](std::size_t i) {
    return std::uint32_t{static_cast<std::uint8_t>(bytes[i])};
  };
  const std::uint32_t bits = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Returns whether a text is a space mark and ASCII, or only ASCII, as most pieces are. Faster
// than is_utf8, which is true for every such text.
bool is_marked_ascii(std::string_view text) {
  if (text.size() >= SPACE_MARK.size() &&
      std::memcmp(text.data(), SPACE_MARK.data(), SPACE_MARK.size()) == 0)
    text.remove_prefix(SPACE_MARK.size());
  return is_ascii(reinterpret_cast<const std::uint8_t *>(text.data()), text.size());
}

// Returns whether a number is the type of a piece; pieces have no UNDEFINED.
template <typename Number> bool is_piece_type(Number number) {
  return number != 0 && is_token_type(number);
}

// Reads a piece of a text of at most 127 bytes, a score and perhaps a type, in this order, as
// nearly all pieces are. Returns false for any other message. Reading the fields one by one
// takes much longer.
bool read_short_piece(std::string_view message, Piece &piece) {
  if (message.size() < 8 || message[0] != TEXT_TAG)
    return false;
  const auto size = static_cast<std::uint8_t>(message[1]);
  const std::size_t untyped = size + std::size_t{7}; // the size of a message without a type
  const bool is_typed = message.size() == untyped + 2 && message[untyped] == TYPE_TAG;
  if (size == 0 || size >= 0x80 || (message.size() != untyped && !is_typed) ||
      message[size + std::size_t{2}] != SCORE_TAG)
    return false;
  if (is_typed)
    piece.type = static_cast<TokenType>(static_cast<std::uint8_t>(message[untyped + 1]));
  piece.text = {message.data() + 2, size};
  piece.score = read_float(message.data() + size + 3);
  return is_piece_type(static_cast<std::uint8_t>(piece.type)) &&
         (is_marked_ascii(piece.text) || is_utf8(piece.text));
}

LoadError read_piece(std::string_view message, std::size_t id, Piece &piece) {
  const auto name = [id] { return "piece " + std::to_string(id); };
  ProtobufReader reader(message);
  for (ProtobufField field; reader.next(field);) {
    if (field.number == PieceField::TEXT) {
      if (field.is_number || !is_utf8(field.bytes))
        return malformed(name(), " is not UTF-8; the file is damaged");
      piece.text = field.bytes;
    } else if (field.number == PieceField::SCORE) {
      if (field.is_number || field.bytes.size() != sizeof piece.score)
        return malformed(name(), " has a score that is not a float; the file is damaged");
      piece.score = read_float(field.bytes.data());
    } else if (field.number == PieceField::TYPE) {
      if (!field.is_number || !is_piece_type(field.value))
        return malformed(name(), " has an unknown type; expected 1 to 6");
      piece.type = static_cast<TokenType>(field.value);
    }
  }
  if (*reader.damage() != '\0')
    return reader.error(name());
  if (piece.text.empty() || count_characters(piece.text) > MAX_PIECE)
    return malformed(name(), " is empty or has more than ", MAX_PIECE,
                     " characters; the file is damaged");
  return {};
}

} // namespace

LoadError read_piece_file(std::string_view data, PieceFile &file) {
  constexpr std::size_t USUAL_SIZE = 12; // bytes of a piece; most models have a larger mean
  file.pieces.reserve(data.size() / USUAL_SIZE);
  ProtobufReader reader(data);
  for (ProtobufField field; reader.next(field);) {
    // Protobuf merges the parts of a message that is listed several times. So append each part.
    std::string *const message = field.number == ModelField::TRAINER        ? &file.trainer
                                 : field.number == ModelField::NORMALIZER   ? &file.normalizer
                                 : field.number == ModelField::DENORMALIZER ? &file.denormalizer
                                                                            : nullptr;
    if (message == nullptr && field.number != ModelField::PIECE)
      continue;
    if (field.is_number)
      return malformed("the model has a number in place of a message; the file is damaged or "
                       "truncated");
    if (message != nullptr) {
      message->append(field.bytes);
      continue;
    }
    Piece piece;
    if (!read_short_piece(field.bytes, piece)) {
      piece = Piece();
      if (LoadError error = read_piece(field.bytes, file.pieces.size(), piece))
        return error;
    }
    if (file.pieces.size() == ID_LIMIT)
      return malformed("the model has more than ", ID_LIMIT, " pieces");
    file.pieces.push_back(piece);
  }
  return *reader.damage() == '\0' ? LoadError() : reader.error("the model");
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return !is_tail(static_cast<std::uint8_t>(byte));
  }));
}

} // namespace pretok
