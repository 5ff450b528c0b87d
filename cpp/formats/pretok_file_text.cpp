#include "formats/pretok_file_reader.hpp"

#include "formats/load_error.hpp"
#include "formats/piece_file.hpp"
#include "formats/rank_file.hpp"
#include "formats/text_spec.hpp"

#include <string>
#include <string_view>

namespace pretok {
namespace {

// The maximum number of characters of a prefix or suffix of tokens; MAX_TEXT of
// bpe/normalizers/step.py.
constexpr std::size_t MAX_AFFIX = 256;

struct TextFlag {
  enum : std::uint32_t {
    FUSES_UNKNOWN = 1,
    NO_FALLBACK = 2,
    OF_BYTES = 4,
    ANY_RESULTS = 8,
    ALL = 15
  };
};

} // namespace

bool read_text_options(PretokFileReader &reader, TokenizerSpec &spec, bool &has_any_results) {
  std::uint32_t unknown = 0;
  std::uint32_t flags = 0;
  std::uint32_t split = 0;
  std::string_view prefix;
  std::string_view suffix;
  if (!reader.number(unknown) || !reader.number(flags) || !reader.number(split) ||
      !reader.text(prefix) || !reader.text(suffix))
    return false;
  if (unknown > ID_LIMIT || flags > TextFlag::ALL || split > 2)
    return reader.fail("has unknown options of text");
  if (count_characters(prefix) > MAX_AFFIX || count_characters(suffix) > MAX_AFFIX)
    return reader.fail("has a prefix or suffix of tokens that is too long");
  TextSpec &text = spec.text.emplace();
  text.unknown_id = unknown == 0 ? NO_ID : unknown - 1;
  text.fuses_unknown = (flags & TextFlag::FUSES_UNKNOWN) != 0;
  text.has_fallback = (flags & TextFlag::NO_FALLBACK) == 0;
  text.byte_level = (flags & TextFlag::OF_BYTES) != 0;
  text.prefix = prefix;
  text.suffix = suffix;
  has_any_results = (flags & TextFlag::ANY_RESULTS) != 0;
  spec.split_at_marks = split == 0   ? SplitAtMarks::NO
                        : split == 1 ? SplitAtMarks::YES
                                     : SplitAtMarks::OTHER;
  return true;
}

bool finish_text(PretokFileReader &reader, TokenizerSpec &spec) {
  if (!tokens_differ(spec.vocabulary.bytes, spec.vocabulary.lengths))
    return reader.fail("has two tokens with the same text");
  if (spec.sentencepiece.has_value() != spec.decoding.has_value())
    return reader.fail("has SentencePiece's normalizer or its decoder, but not both");
  std::string problem = problem_of_text(spec);
  if (problem.empty())
    problem = use_character_spec(spec);
  return problem.empty() || reader.fail(problem);
}

} // namespace pretok
