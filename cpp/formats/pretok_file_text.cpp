#include "formats/pretok_file_text.hpp"

#include "formats/character_spec.hpp"
#include "formats/load_error.hpp"
#include "formats/piece_file.hpp"
#include "formats/rank_file.hpp"
#include "formats/text_spec.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pretok {
namespace {

constexpr std::uint32_t MAX_STRIPPED = 255;
// The maximum number of characters of a prefix or suffix of tokens; MAX_TEXT of
// bpe/formats/normalizer_json.py.
constexpr std::size_t MAX_AFFIX = 256;

// The value of `spaces` for a SentencePieceSpec.
constexpr std::uint32_t OTHER_NORMALIZER = SPACES_KINDS;
// The value of `spaces` if the characters of tokens stand for bytes.
constexpr std::uint32_t BYTE_LEVEL = OTHER_NORMALIZER + 1;
// The value of `spaces` for a TextSpec.
constexpr std::uint32_t OTHER_MODEL = BYTE_LEVEL + 1;

struct TextFlag {
  enum : std::uint32_t {
    SENTENCEPIECE = 1,
    STRIPS_AGAIN = 2,
    FUSES_UNKNOWN = 4,
    NO_FALLBACK = 8,
    ALL = 15,
    // Only of a TextSpec:
    OF_BYTES = 16,
    ANY_RESULTS = 32
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

// Reads the rest of the section for a TextSpec.
bool read_text_spec(PretokFileReader &reader, std::uint32_t flags, TextSpec &text,
                    bool &has_any_results) {
  text.fuses_unknown = (flags & TextFlag::FUSES_UNKNOWN) != 0;
  text.has_fallback = (flags & TextFlag::NO_FALLBACK) == 0;
  text.byte_level = (flags & TextFlag::OF_BYTES) != 0;
  has_any_results = (flags & TextFlag::ANY_RESULTS) != 0;
  std::string_view prefix;
  std::string_view suffix;
  if (!reader.text(prefix) || !reader.text(suffix))
    return false;
  text.prefix = prefix;
  text.suffix = suffix;
  return (count_characters(prefix) <= MAX_AFFIX && count_characters(suffix) <= MAX_AFFIX) ||
         reader.fail("has a prefix or suffix of tokens that is too long");
}

} // namespace

bool read_text_options(PretokFileReader &reader, std::uint32_t version, TokenizerSpec &spec,
                       bool &has_any_results) {
  CharacterSpec options;
  std::uint32_t spaces = 0;
  std::uint32_t splits = 0;
  std::uint32_t unknown = 0;
  std::uint32_t flags = 0;
  TextDecoding &decoding = options.decoding;
  if (!reader.number(spaces) || !reader.number(splits) || !reader.number(unknown) ||
      !reader.number(flags) || !reader.number(decoding.strips))
    return false;
  if (spaces == OTHER_MODEL) {
    constexpr std::uint32_t ALLOWED = TextFlag::FUSES_UNKNOWN | TextFlag::NO_FALLBACK |
                                      TextFlag::OF_BYTES | TextFlag::ANY_RESULTS;
    if (version != 3 || splits != 0 || unknown > ID_LIMIT || (flags & ~ALLOWED) != 0 ||
        decoding.strips != 0)
      return reader.fail("has unknown options of text");
    TextSpec &text = spec.text.emplace();
    text.unknown_id = unknown == 0 ? NO_ID : unknown - 1;
    return read_text_spec(reader, flags, text, has_any_results);
  }
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
      flags > TextFlag::ALL ||
      (version < 3 && (has_normalizer || !options.has_fallback) != (version == 2)) ||
      decoding.strips > (decoding.is_sentencepiece ? 1 : MAX_STRIPPED) ||
      (decoding.strips_again && !decoding.is_sentencepiece))
    return reader.fail("has unknown options of text");
  options.unknown_id = unknown == 0 ? NO_ID : unknown - 1;
  if (is_byte_level) {
    spec.missing_bytes.emplace(MissingBytesSpec{options.unknown_id, options.fuses_unknown, {}});
    return true;
  }
  options.is_normalizer = true;
  if (!has_normalizer)
    set_spaces(spaces, options);
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
  if (spec.text) {
    const std::string problem = problem_of_text(spec);
    return problem.empty() || reader.fail(problem);
  }
  const std::string problem = problem_of_characters(spec);
  return problem.empty() || reader.fail(problem);
}

} // namespace pretok
