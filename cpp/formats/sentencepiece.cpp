#include "formats/sentencepiece.hpp"

#include "core/unicode/utf8.hpp"
#include "formats/character_spec.hpp"
#include "formats/piece_file.hpp"
#include "formats/protobuf_reader.hpp"
#include "formats/rank_file.hpp"
#include "formats/text_spec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <string>

namespace pretok {
namespace {

// The numbers of the fields that this reader needs.
struct TrainerField {
  enum : std::uint32_t {
    MODEL_TYPE = 3,
    SPACE_SUFFIX = 24,
    BYTE_FALLBACK = 35,
    UNKNOWN = 44,
    BOS_PIECE = 46,
    EOS_PIECE = 47,
    PAD_PIECE = 48
  };
};
struct NormalizerField {
  enum : std::uint32_t { CHARSMAP = 2, DUMMY_PREFIX = 3, REMOVES_SPACES = 4, ESCAPES = 5 };
};
constexpr const char *MODEL_TYPES[] = {"", "Unigram", "BPE", "word", "character"};
constexpr std::uint64_t BPE = 2;

// The scalar fields of a message. The last value of a field counts.
class Options {
public:
  LoadError read(std::string_view message, const char *name) {
    name_ = name;
    ProtobufReader reader(message);
    for (ProtobufField field; reader.next(field);)
      if (field.number < fields_.size())
        fields_[field.number] = field;
    return *reader.damage() == '\0' ? LoadError() : reader.error(name);
  }

  std::uint64_t number(std::uint32_t number, std::uint64_t fallback) {
    const ProtobufField &field = fields_[number];
    if (field.number != 0 && !field.is_number)
      wrong_ = number;
    return field.number == 0 ? fallback : field.value;
  }

  std::string_view bytes(std::uint32_t number, std::string_view fallback) {
    const ProtobufField &field = fields_[number];
    if (field.number != 0 && field.is_number)
      wrong_ = number;
    return field.number == 0 ? fallback : field.bytes;
  }

  // Returns an error if a field that was read has a value of the wrong type.
  LoadError check() const {
    return wrong_ == 0 ? LoadError()
                       : malformed("field ", wrong_, " of ", name_,
                                   " has an unexpected type; the file is damaged");
  }

private:
  const char *name_ = "";
  std::array<ProtobufField, TrainerField::PAD_PIECE + 1> fields_;
  std::uint32_t wrong_ = 0;
};

class ModelReader {
public:
  explicit ModelReader(TokenizerSpec &spec) : spec_(spec) {}

  LoadError read(std::string_view data) {
    if (LoadError error = read_piece_file(data, file_))
      return error;
    if (LoadError error = read_options())
      return error;
    if (LoadError error = check_pieces())
      return error;
    list_tokens();
    list_facts();
    use_sentencepiece(spec_);
    if (!tokens_differ(spec_.vocabulary.bytes, spec_.vocabulary.lengths))
      return malformed("two pieces of the SentencePiece model are equal");
    const std::string problem = problem_of_characters(spec_);
    if (!problem.empty())
      return unsupported("the SentencePiece model ", problem);
    return {};
  }

private:
  LoadError read_options() {
    Options trainer;
    Options normalizer;
    Options denormalizer;
    if (LoadError error = trainer.read(file_.trainer, "trainer_spec"))
      return error;
    const std::uint64_t type = trainer.number(TrainerField::MODEL_TYPE, 1);
    if (LoadError error = trainer.check())
      return error;
    if (type != BPE)
      return unsupported("the SentencePiece model is of type ",
                         (type != 0 && type < std::size(MODEL_TYPES) ? MODEL_TYPES[type]
                                                                     : std::to_string(type)),
                         "; pretok reads only type BPE");
    if (LoadError error = denormalizer.read(file_.denormalizer, "denormalizer_spec"))
      return error;
    const std::string_view denormalizes = denormalizer.bytes(NormalizerField::CHARSMAP, "");
    if (LoadError error = denormalizer.check())
      return error;
    if (LoadError error = normalizer.read(file_.normalizer, "normalizer_spec"))
      return error;
    has_fallback_ = trainer.number(TrainerField::BYTE_FALLBACK, 0) != 0;
    const bool is_suffix = trainer.number(TrainerField::SPACE_SUFFIX, 0) != 0;
    const bool has_prefix = normalizer.number(NormalizerField::DUMMY_PREFIX, 1) != 0;
    const bool removes = normalizer.number(NormalizerField::REMOVES_SPACES, 1) != 0;
    const bool escapes = normalizer.number(NormalizerField::ESCAPES, 1) != 0;
    const std::string_view charsmap = normalizer.bytes(NormalizerField::CHARSMAP, "");
    spec_.characters.emplace();
    TextSpec &text = spec_.text.emplace();
    SentencePieceDecoding &decoding = spec_.decoding.emplace();
    role_pieces_ = {trainer.bytes(TrainerField::BOS_PIECE, "<s>"),
                    trainer.bytes(TrainerField::EOS_PIECE, "</s>"),
                    trainer.bytes(TrainerField::PAD_PIECE, "<pad>")};
    decoding.unknown_surface = trainer.bytes(TrainerField::UNKNOWN, " \xE2\x81\x87 ");
    for (const Options *options : {&trainer, &normalizer})
      if (LoadError error = options->check())
        return error;
    if (!is_utf8(decoding.unknown_surface))
      return malformed("unk_surface is not UTF-8; the file is damaged");
    if (!denormalizes.empty())
      return unsupported("the SentencePiece model has a denormalizer, which pretok does not "
                         "apply");
    spec_.sentencepiece = SentencePieceSpec{{has_prefix, removes, escapes, is_suffix},
                                            {charsmap.begin(), charsmap.end()}};
    const std::string problem = problem_of_charsmap(spec_.sentencepiece->charsmap);
    if (!problem.empty())
      return malformed("the charsmap of the SentencePiece model ", problem,
                       "; the file is damaged");
    text.has_fallback = has_fallback_;
    text.fuses_unknown = true;
    decoding.strips_space = has_prefix || removes;
    decoding.strips_spaces = removes;
    return {};
  }

  LoadError check_pieces() {
    std::size_t unknown = 0;
    std::size_t fallback = 0;
    for (std::size_t id = 0; id < file_.pieces.size(); ++id) {
      const Piece &piece = file_.pieces[id];
      const auto name = [&] {
        return "piece " + std::to_string(id) + ", " + quote(piece.text) + ",";
      };
      if (piece.type == TokenType::NORMAL) {
        if (piece.score != piece.score)
          return malformed(name(), " has the score NaN; expected a number");
        continue;
      }
      const bool is_one = count_characters(piece.text) == 1;
      const bool is_byte = piece.type == TokenType::BYTE;
      if (is_byte && !(has_fallback_ && fallback_byte(piece.text)))
        return malformed(name(),
                         " has type BYTE; expected a piece from \"<0x00>\" to \"<0xFF>\" "
                         "in a model with byte_fallback");
      if (piece.type == TokenType::CONTROL && is_one)
        return unsupported(name(), " is a control symbol of one character, which sentencepiece "
                                   "cannot encode in a text; expected several characters");
      if (piece.type == TokenType::UNKNOWN && is_one)
        return unsupported(name(), " is an unknown token of one character; use bpe.load in "
                                   "Python");
      if (piece.type == TokenType::USER_DEFINED && count_characters(piece.text) > MAX_SYMBOL)
        return unsupported(name(), " is a user-defined symbol of more than ", MAX_SYMBOL,
                           " characters");
      unknown += piece.type == TokenType::UNKNOWN ? 1 : 0;
      fallback += is_byte ? 1 : 0;
    }
    if (unknown != 1)
      return malformed("the model has ", unknown, " pieces of type UNKNOWN; expected one");
    if (has_fallback_ && fallback != 256)
      return malformed("the model has byte_fallback, and pieces for ", fallback,
                       " bytes; expected all 256");
    return check_unused();
  }

  // Fails if merging may make a piece of type UNUSED: sentencepiece undoes the last merge of
  // such a piece after all merges.
  LoadError check_unused() const {
    const auto is_unused = [](const Piece &piece) { return piece.type == TokenType::UNUSED; };
    if (std::none_of(file_.pieces.begin(), file_.pieces.end(), is_unused))
      return {};
    std::set<std::string_view> made;
    for (const Piece &piece : file_.pieces)
      if (is_unused(piece) || piece.type == TokenType::NORMAL)
        made.insert(piece.text);
    const auto is_symbol = [&](std::string_view text) {
      return count_characters(text) == 1 || made.count(text) != 0;
    };
    for (std::size_t id = 0; id < file_.pieces.size(); ++id) {
      const std::string_view text = file_.pieces[id].text;
      if (!is_unused(file_.pieces[id]))
        continue;
      for (std::size_t at = 1; at < text.size(); ++at)
        if (!is_tail(static_cast<std::uint8_t>(text[at])) && is_symbol(text.substr(0, at)) &&
            is_symbol(text.substr(at)))
          return unsupported("piece ", id, ", ", quote(text),
                             ", has type UNUSED; pretok reads a piece of this type only if it "
                             "is no pair of a character or piece and another one");
    }
    return {};
  }

  void list_tokens() {
    VocabularyData &data = spec_.vocabulary;
    std::size_t size = 0;
    for (const Piece &piece : file_.pieces)
      size += piece.text.size();
    data.bytes.resize(size);
    data.lengths.reserve(file_.pieces.size());
    data.ids.reserve(file_.pieces.size());
    spec_.scores.reserve(file_.pieces.size());
    std::uint8_t *end = data.bytes.data();
    // Merging makes no UNUSED piece, not even of a single character. So these come last.
    for (const bool is_unused : {false, true}) {
      data.mergeable = data.ids.size();
      for (std::uint32_t id = 0; id < file_.pieces.size(); ++id) {
        const Piece &piece = file_.pieces[id];
        if ((piece.type == TokenType::UNUSED) != is_unused)
          continue;
        std::memcpy(end, piece.text.data(), piece.text.size());
        end += piece.text.size();
        data.lengths.push_back(static_cast<std::uint32_t>(piece.text.size()));
        data.ids.push_back(id);
        const bool is_normal = piece.type == TokenType::NORMAL;
        // A user-defined symbol of one character that is encoded as text becomes its id. No
        // merge makes it, so its score does not count.
        const bool is_symbol =
            piece.type == TokenType::USER_DEFINED && count_characters(piece.text) == 1;
        spec_.scores.push_back(is_normal ? piece.score : is_symbol ? 0 : NAN);
        if (!is_normal && piece.type != TokenType::BYTE && !is_unused)
          add_token(id, piece);
      }
    }
    // Every other piece is mergeable. build_characters ignores the pieces that merging cannot
    // make.
    data.from_ranks = data.ignore_merges = false;
  }

  // Like sentencepiece, takes the role of a piece from its text. It must be a control symbol.
  void list_facts() {
    constexpr TokenRole ROLES[] = {TokenRole::BOS, TokenRole::EOS, TokenRole::PAD};
    TokenFacts &facts = spec_.facts;
    for (std::uint32_t id = 0; id < file_.pieces.size(); ++id) {
      const Piece &piece = file_.pieces[id];
      facts.types.push_back(static_cast<std::uint8_t>(piece.type));
      facts.scores.push_back(piece.score);
      if (piece.type == TokenType::UNKNOWN)
        facts.roles[TokenRole::UNK] = id;
      for (std::size_t i = 0; i < role_pieces_.size(); ++i)
        if (piece.type == TokenType::CONTROL && piece.text == role_pieces_[i])
          facts.roles[ROLES[i]] = id;
    }
  }

  void add_token(std::uint32_t id, const Piece &piece) {
    if (piece.type == TokenType::UNKNOWN)
      spec_.text->unknown_id = id;
    AddedToken token;
    token.content = piece.text;
    token.id = id;
    token.normalized = piece.type == TokenType::USER_DEFINED;
    token.special = !token.normalized;
    spec_.added.push_back(std::move(token));
  }

  TokenizerSpec &spec_;
  PieceFile file_;
  bool has_fallback_ = false;
  std::array<std::string_view, 3> role_pieces_; // the texts of BOS, EOS and PAD
};

} // namespace

bool is_sentencepiece(std::string_view data) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(data[i]); };
  // The file begins with the tag and the size of a piece, and then the tag and the size of its
  // text. The tag of the score follows the text. The piece must be larger than its text.
  if (data.size() < 5 || data[0] != '\n' || data[2] != '\n')
    return false;
  const std::size_t end = std::size_t{4} + at(3);
  return at(1) >= at(3) + 2 && end < data.size() && data[end] == 0x15;
}

LoadError read_sentencepiece(std::string_view data, TokenizerSpec &spec) {
  return ModelReader(spec).read(data);
}

} // namespace pretok
