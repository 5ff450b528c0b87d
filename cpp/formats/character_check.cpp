// Finds out whether the encoder supports a model with TokenizerSpec::characters.
#include "formats/character_spec.hpp"
#include "formats/load_error.hpp"
#include "formats/piece_file.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {
namespace {

// Returns whether the encoder supports normalized added tokens of a model with these spaces. It
// does if the model puts no space before a text. Otherwise it must search for these tokens
// after the space is added (TextSpaces::precedes_tokens).
bool has_place_for_normalized(const TextSpaces &spaces) {
  return spaces.prefix == TextSpaces::Prefix::NONE || spaces.precedes_tokens;
}

// Returns whether some decoder may take a token for a fallback token.
bool looks_like_fallback(std::string_view text) {
  return text.size() == 6 && text.substr(0, 3) == "<0x" && text[5] == '>';
}

// Finds the problem that problem_of_characters returns.
class CharacterChecker {
public:
  explicit CharacterChecker(const TokenizerSpec &spec)
      : spec_(spec), text_(*spec.text), options_(*spec.characters) {}

  // Returns what problem_of_characters returns: a problem such as "has ids that are too large",
  // or "" if there is none. The caller puts a subject, such as "the file", before it.
  std::string check() {
    const std::vector<std::uint32_t> &ids = spec_.vocabulary.ids;
    is_unmerged_.resize(std::size_t{*std::max_element(ids.begin(), ids.end())} + 1);
    for (const auto check : {&CharacterChecker::check_tokens, &CharacterChecker::check_merges,
                             &CharacterChecker::check_added_tokens})
      if (std::string problem = (this->*check)(); !problem.empty())
        return problem;
    return "";
  }

private:
  std::string check_tokens() {
    const VocabularyData &data = spec_.vocabulary;
    bool has_unknown = text_.unknown_id == NO_ID;
    std::size_t fallback = 0;
    const std::vector<std::string_view> texts = texts_of(spec_);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string_view text = texts[i];
      if (i >= data.mergeable && !is_utf8(text))
        return "has a token that is not UTF-8";
      const bool is_similar = looks_like_fallback(text);
      const bool is_fallback = is_similar && fallback_byte(text);
      if (is_similar && !is_fallback)
        return "has the token " + quote(text) +
               ", which some decoders take for a fallback token";
      const bool is_unknown = data.ids[i] == text_.unknown_id;
      fallback += is_fallback ? 1 : 0;
      if (is_fallback && !text_.has_fallback)
        return "has the token " + quote(text) + ", which looks like a fallback token";
      has_unknown = has_unknown || is_unknown;
      if (is_fallback || is_unknown)
        is_unmerged_[data.ids[i]] = true;
      if (is_unknown && is_fallback)
        return "has the unknown token " + quote(text) + ", which is a fallback token";
    }
    if (text_.has_fallback && fallback != 256 &&
        !(spec_.scores.empty() && cover_characters(texts)))
      return "has " + std::to_string(fallback) + " fallback tokens; expected 256";
    if (!spec_.sentencepiece && !has_mark(spec_))
      return "lacks a token for the space, U+2581";
    if (!has_unknown || (!text_.has_fallback && text_.unknown_id == NO_ID))
      return "lacks the unknown token";
    return first_step(spec_) + max_steps(spec_) <= ID_LIMIT ? "" : "has ids that are too large";
  }

  std::string check_merges() {
    const auto is_wrong = [this](const Merge &merge) {
      return is_unmerged_[merge.left] || is_unmerged_[merge.right] || is_unmerged_[merge.id];
    };
    const std::vector<Merge> &merges = spec_.vocabulary.merges;
    return std::none_of(merges.begin(), merges.end(), is_wrong)
               ? ""
               : "merges a fallback token, or the unknown token";
  }

  std::string check_added_tokens() {
    std::vector<std::uint32_t> ids;
    const bool is_sentencepiece = spec_.sentencepiece || options_.spaces.replaces_invalid;
    for (const AddedToken &token : spec_.added) {
      ids.push_back(token.id);
      const bool is_symbol = token.normalized && options_.is_normalizer;
      // The encoder does not tell the place of a refused token in text that it has normalized.
      const bool is_misplaced =
          is_symbol && (spec_.sentencepiece
                            ? token.special
                            : !has_place_for_normalized(options_.spaces) || !is_plain(token));
      const bool is_wrong =
          looks_like_fallback(token.content) || is_misplaced ||
          (is_symbol && is_sentencepiece && count_characters(token.content) > MAX_SYMBOL);
      if (is_wrong)
        return "has the added token " + quote(token.content) +
               ", which would change when spaces are replaced or ids are decoded";
    }
    std::sort(ids.begin(), ids.end());
    const auto repeated = std::adjacent_find(ids.begin(), ids.end());
    return repeated == ids.end() ? ""
                                 : "has two added tokens with id " + std::to_string(*repeated);
  }

  const TokenizerSpec &spec_;
  const TextSpec &text_;
  const CharacterSpec &options_;
  // By id: true for fallback tokens and the unknown token, which must not occur in merges.
  std::vector<bool> is_unmerged_;
};

} // namespace

std::string problem_of_characters(const TokenizerSpec &spec) {
  return CharacterChecker(spec).check();
}

} // namespace pretok
