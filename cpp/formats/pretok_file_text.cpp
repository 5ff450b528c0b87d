#include "formats/pretok_file_text.hpp"

#include "formats/character_spec.hpp"
#include "formats/load_error.hpp"
#include "formats/rank_file.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pretok {
namespace {

constexpr std::uint32_t MAX_STRIPPED = 255;

// The members of TextSpaces and CharacterSpec with these names.
struct SpacesKind {
  TextSpaces::Prefix prefix;
  bool only_first;
  bool replaces_invalid;
  bool is_normalizer;
};
// SPACES[i] is equivalent to NORMALIZERS[i] in bpe/formats/pretok_models.py.
constexpr SpacesKind SPACES[] = {
    {TextSpaces::Prefix::NONE, false, true, true},           // SentencePiece
    {TextSpaces::Prefix::ALWAYS, false, true, true},         // with add_dummy_prefix
    {TextSpaces::Prefix::NONE, false, false, false},         // Metaspace, never
    {TextSpaces::Prefix::UNLESS_SPACE, true, false, false},  // Metaspace, first
    {TextSpaces::Prefix::UNLESS_SPACE, false, false, false}, // Metaspace, always
    {TextSpaces::Prefix::NONE, false, false, true},          // Replace
    {TextSpaces::Prefix::ALWAYS, false, false, true},        // Prepend, Replace
};

// The value of `spaces` for a SentencePieceSpec.
constexpr std::uint32_t OTHER_NORMALIZER = std::size(SPACES);
// The value of `spaces` if the characters of tokens stand for bytes.
constexpr std::uint32_t BYTE_LEVEL = OTHER_NORMALIZER + 1;

struct TextFlag {
  enum : std::uint32_t {
    SENTENCEPIECE = 1,
    STRIPS_AGAIN = 2,
    FUSES_UNKNOWN = 4,
    NO_FALLBACK = 8,
    ALL = 15
  };
};

bool read_normalizer(PretokFileReader &reader, SentencePieceSpec &normalizer) {
  std::uint32_t options = 0;
  std::uint32_t size = 0;
  if (!reader.number(options))
    return false;
  if (options > 15)
    return reader.fail("has unknown options of the normalizer");
  if (!reader.count(1, size))
    return false;
  normalizer.options = {(options & 1) != 0, (options & 2) != 0, (options & 4) != 0,
                        (options & 8) != 0};
  normalizer.charsmap.assign(reader.here(), reader.here() + size);
  const std::string problem = problem_of_charsmap(normalizer.charsmap);
  return reader.skip(size) &&
         (problem.empty() || reader.fail("has a charsmap that " + problem));
}

} // namespace

bool read_text_options(PretokFileReader &reader, bool is_new, TokenizerSpec &spec) {
  CharacterSpec options;
  std::uint32_t spaces = 0;
  std::uint32_t splits = 0;
  std::uint32_t unknown = 0;
  std::uint32_t flags = 0;
  TextDecoding &decoding = options.decoding;
  if (!reader.number(spaces) || !reader.number(splits) || !reader.number(unknown) ||
      !reader.number(flags) || !reader.number(decoding.strips))
    return false;
  decoding.is_sentencepiece = (flags & TextFlag::SENTENCEPIECE) != 0;
  decoding.strips_again = (flags & TextFlag::STRIPS_AGAIN) != 0;
  options.fuses_unknown = (flags & TextFlag::FUSES_UNKNOWN) != 0;
  options.has_fallback = (flags & TextFlag::NO_FALLBACK) == 0;
  const bool has_normalizer = spaces == OTHER_NORMALIZER;
  const bool is_byte_level = spaces == BYTE_LEVEL;
  if (is_byte_level && (options.has_fallback || decoding.is_sentencepiece ||
                        decoding.strips != 0 || splits != 0))
    return reader.fail("has unknown options of text");
  if (spaces > BYTE_LEVEL || splits > (has_normalizer ? 0 : 1) || unknown > ID_LIMIT ||
      flags > TextFlag::ALL || (has_normalizer || !options.has_fallback) != is_new ||
      decoding.strips > (decoding.is_sentencepiece ? 1 : MAX_STRIPPED) ||
      (decoding.strips_again && !decoding.is_sentencepiece))
    return reader.fail("has unknown options of text");
  options.unknown_id = unknown == 0 ? NO_ID : unknown - 1;
  if (is_byte_level) {
    spec.missing_bytes.emplace(MissingBytesSpec{options.unknown_id, options.fuses_unknown, {}});
    return true;
  }
  options.is_normalizer = true;
  if (!has_normalizer) {
    const SpacesKind &kind = SPACES[spaces];
    options.spaces.prefix = kind.prefix;
    options.spaces.only_first = kind.only_first;
    options.spaces.replaces_invalid = kind.replaces_invalid;
    options.spaces.are_marks = true;
    // Only SentencePiece replaces invalid bytes, and only SentencePiece adds the prefix before
    // it finds normalized added tokens.
    options.spaces.precedes_tokens = kind.replaces_invalid;
    options.is_normalizer = kind.is_normalizer;
  }
  options.splits_at_marks = splits != 0;
  std::string_view surface;
  if (decoding.is_sentencepiece && !reader.text(surface))
    return false;
  decoding.unknown = surface;
  if (has_normalizer && !read_normalizer(reader, options.normalizer.emplace()))
    return false;
  spec.characters.emplace(std::move(options));
  return true;
}

bool finish_text(PretokFileReader &reader, TokenizerSpec &spec) {
  const VocabularyData &data = spec.vocabulary;
  if (!tokens_differ(data.bytes, data.lengths))
    return reader.fail("has two tokens with the same text");
  if (spec.missing_bytes) {
    const std::string problem = replace_byte_characters(spec);
    return problem.empty() || reader.fail(problem);
  }
  const std::string problem = problem_of_characters(spec);
  return problem.empty() || reader.fail(problem);
}

} // namespace pretok
