#include "formats/pretok_file_text.hpp"

#include "formats/character_spec.hpp"
#include "formats/load_error.hpp"
#include "formats/rank_file.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {
namespace {

constexpr std::uint32_t MAX_STRIPPED = 255;
constexpr std::string_view INVALID_MARK = "\xEF\xBF\xBD";

struct SpacesKind {
  TextSpaces::Prefix prefix;
  bool only_first;
  bool replaces_invalid;
  bool is_normalizer; // whether the spaces come before the search for normalized added tokens
};
// The TextSpaces of each of _NORMALIZERS in pretok_text.py, in the same order.
constexpr SpacesKind SPACES[] = {
    {TextSpaces::Prefix::NONE, false, true, true},           // SentencePiece
    {TextSpaces::Prefix::ALWAYS, false, true, true},         // with add_dummy_prefix
    {TextSpaces::Prefix::NONE, false, false, false},         // Metaspace, never
    {TextSpaces::Prefix::UNLESS_SPACE, true, false, false},  // Metaspace, first
    {TextSpaces::Prefix::UNLESS_SPACE, false, false, false}, // Metaspace, always
    {TextSpaces::Prefix::NONE, false, false, true},          // Replace
    {TextSpaces::Prefix::ALWAYS, false, false, true},        // Prepend, Replace
};

struct DecoderFlag {
  enum : std::uint32_t { SENTENCEPIECE = 1, STRIPS_AGAIN = 2, FUSES_UNKNOWN = 4, ALL = 7 };
};

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Returns whether the token is found at the same places before and after spaces are replaced.
bool is_plain(const AddedToken &token) {
  return !token.lstrip && !token.rstrip && !token.single_word && !has(token.content, " ") &&
         !has(token.content, SPACE_MARK) && !has(token.content, INVALID_MARK);
}

// Returns whether decoders may take a text for a fallback token.
bool looks_like_fallback(std::string_view text) {
  return text.size() == 6 && text.substr(0, 3) == "<0x" && text[5] == '>';
}

class TextChecker {
public:
  TextChecker(PretokFileReader &reader, const TokenizerSpec &spec)
      : reader_(reader), spec_(spec), options_(*spec.characters), texts_(texts_of(spec)) {}

  bool check() {
    const std::vector<std::uint32_t> &ids = spec_.vocabulary.ids;
    is_unmerged_.resize(std::size_t{*std::max_element(ids.begin(), ids.end())} + 1);
    return check_tokens() && check_merges() && check_added_tokens();
  }

private:
  bool check_tokens() {
    const VocabularyData &data = spec_.vocabulary;
    if (!tokens_differ(data.bytes, data.lengths))
      return reader_.fail("has two tokens with the same text");
    bool has_mark = false;
    bool has_unknown = options_.unknown_id == NO_ID;
    std::size_t fallback = 0;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const std::string_view text = texts_[i];
      if (!is_utf8(text))
        return reader_.fail("has a token that is not UTF-8");
      const bool is_fallback = fallback_byte(text).has_value();
      if (looks_like_fallback(text) && !is_fallback)
        return reader_.fail("has the token " + quote(text) + ", which decoders may read");
      const bool is_unknown = data.ids[i] == options_.unknown_id;
      fallback += is_fallback ? 1 : 0;
      has_mark = has_mark || text == SPACE_MARK;
      has_unknown = has_unknown || is_unknown;
      is_unmerged_[data.ids[i]] = is_fallback || is_unknown;
      if (is_unknown && (is_fallback || text.substr(0, SPACE_MARK.size()) == SPACE_MARK))
        return reader_.fail("has the unknown token " + quote(text));
    }
    if (fallback != 256 || !has_mark || !has_unknown)
      return reader_.fail(
          "lacks a fallback token, a token for the space, or the unknown token");
    return first_step(spec_) + max_steps(spec_) <= ID_LIMIT ||
           reader_.fail("has ids that are too large");
  }

  bool check_merges() {
    const auto is_wrong = [this](const Merge &merge) {
      return is_unmerged_[merge.left] || is_unmerged_[merge.right] || is_unmerged_[merge.id];
    };
    const std::vector<Merge> &merges = spec_.vocabulary.merges;
    return std::none_of(merges.begin(), merges.end(), is_wrong) ||
           reader_.fail("merges a fallback token, or the unknown token");
  }

  bool check_added_tokens() {
    std::vector<std::uint32_t> ids;
    for (std::size_t i = 0; i < spec_.added.size(); ++i) {
      const AddedToken &token = spec_.added[i];
      ids.push_back(token.id);
      const bool is_wrong =
          looks_like_fallback(token.content) ||
          (token.normalized && options_.is_normalizer &&
           (options_.spaces.prefix != TextSpaces::Prefix::NONE || !is_plain(token))) ||
          (options_.decoding.is_sentencepiece && spec_.added_special[i] &&
           std::string_view(token.content).substr(0, SPACE_MARK.size()) == SPACE_MARK);
      if (is_wrong)
        return reader_.fail("has the added token " + quote(token.content) +
                            ", which spaces or decoding may change");
    }
    std::sort(ids.begin(), ids.end());
    return std::adjacent_find(ids.begin(), ids.end()) == ids.end() ||
           reader_.fail("has two added tokens with the same id");
  }

  PretokFileReader &reader_;
  const TokenizerSpec &spec_;
  const CharacterSpec &options_;
  const std::vector<std::string_view> texts_;
  std::vector<bool> is_unmerged_; // by id: the token may be in no merge
};

} // namespace

bool read_text_options(PretokFileReader &reader, CharacterSpec &options) {
  std::uint32_t spaces = 0;
  std::uint32_t splits = 0;
  std::uint32_t unknown = 0;
  std::uint32_t flags = 0;
  TextDecoding &decoding = options.decoding;
  if (!reader.number(spaces) || !reader.number(splits) || !reader.number(unknown) ||
      !reader.number(flags) || !reader.number(decoding.strips))
    return false;
  decoding.is_sentencepiece = (flags & DecoderFlag::SENTENCEPIECE) != 0;
  decoding.strips_again = (flags & DecoderFlag::STRIPS_AGAIN) != 0;
  if (spaces >= std::size(SPACES) || splits > 1 || unknown > ID_LIMIT ||
      flags > DecoderFlag::ALL ||
      decoding.strips > (decoding.is_sentencepiece ? 1 : MAX_STRIPPED) ||
      (decoding.strips_again && !decoding.is_sentencepiece))
    return reader.fail("has unknown options of text");
  const SpacesKind &kind = SPACES[spaces];
  options.spaces.prefix = kind.prefix;
  options.spaces.only_first = kind.only_first;
  options.spaces.replaces_invalid = kind.replaces_invalid;
  options.spaces.are_marks = true;
  options.is_normalizer = kind.is_normalizer;
  options.splits_at_marks = splits != 0;
  options.unknown_id = unknown == 0 ? NO_ID : unknown - 1;
  std::string_view surface;
  if (decoding.is_sentencepiece && !reader.text(surface))
    return false;
  decoding.unknown = surface;
  return true;
}

bool check_text(PretokFileReader &reader, const TokenizerSpec &spec) {
  return TextChecker(reader, spec).check();
}

} // namespace pretok
