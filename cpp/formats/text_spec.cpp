#include "formats/text_spec.hpp"

#include "core/unicode/byte_level.hpp"
#include "core/unicode/utf8.hpp"
#include "formats/character_spec.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace pretok {
namespace {

// Returns the byte of a fallback token; nullopt for any other token, and for all tokens of a
// model that has no fallback tokens.
std::optional<std::uint8_t> fallback_of(const TextSpec &text, std::string_view token) {
  return text.has_fallback ? fallback_byte(token) : std::nullopt;
}

// Sets the members `spaces` and is_normalizer to those of a Metaspace, or of the steps Prepend
// and Replace. Returns false for any other normalizer.
bool use_chain(const TokenizerSpec &spec, CharacterSpec &options) {
  using Prefix = TextSpaces::Prefix;
  TextSpaces &spaces = options.spaces;
  spaces.are_marks = spaces.prefix_has_span = true;
  if (spec.metaspace) {
    const MetaspaceSpec &metaspace = *spec.metaspace;
    spaces.only_first = metaspace.prepend == PrependScheme::FIRST;
    spaces.prefix =
        metaspace.prepend == PrependScheme::NEVER ? Prefix::NONE : Prefix::UNLESS_SPACE;
    return spec.steps.empty() && !metaspace.before && metaspace.replacement == SPACE_MARK;
  }
  options.is_normalizer = true;
  if (spec.steps.empty() || spec.steps.size() > 2)
    return false;
  const NormalizerStep &first = spec.steps.front();
  const NormalizerStep &last = spec.steps.back();
  const bool prepends = spec.steps.size() == 2;
  spaces.prefix = prepends ? Prefix::ALWAYS : Prefix::NONE;
  return last.is("Replace") && last.replacement.is_text(" ", SPACE_MARK) &&
         (!prepends || (first.is("Prepend") && first.replacement.content == SPACE_MARK));
}

} // namespace

bool has_all_bytes(const TextIndex &places) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    if (!is_rare_byte(byte) && places.find(byte_characters(one)) == TextIndex::NO_TEXT)
      return false;
  }
  return true;
}

LoadError list_texts(const TextModel &source, const TextIndex &places, VocabularyData &data,
                     std::string_view prefix) {
  if (LoadError error = find_merges(source, places, data.merges, prefix))
    return error;
  std::vector<bool> is_named; // by id: whether a merge names the token
  if (!source.loose.empty())
    is_named.resize(std::size_t{*std::max_element(source.ids.begin(), source.ids.end())} + 1);
  if (!is_named.empty())
    for (const Merge &merge : data.merges)
      is_named[merge.left] = is_named[merge.right] = is_named[merge.id] = true;
  data.lengths.reserve(source.texts.size());
  data.ids.reserve(source.texts.size());
  for (std::size_t i = 0; i < source.texts.size(); ++i) {
    const std::string_view text = source.texts[i];
    if (text.empty() || (!is_named.empty() && source.loose[i] && !is_named[source.ids[i]]))
      continue;
    data.add(text, source.ids[i]);
  }
  data.mergeable = data.ids.size();
  data.from_ranks = false;
  return {};
}

void use_nfc(TokenizerSpec &spec) {
  spec.nfc = spec.steps.size() == 1 && spec.steps[0].is("NFC") && !spec.metaspace;
  if (spec.nfc)
    spec.steps.clear();
}

void use_sentencepiece(TokenizerSpec &spec) {
  const SentencePieceSpec &normalizer = *spec.sentencepiece;
  CharacterSpec &characters = *spec.characters;
  characters.is_normalizer = true;
  const bool is_all_plain =
      std::all_of(spec.added.begin(), spec.added.end(),
                  [](const AddedToken &token) { return !token.normalized || is_plain(token); });
  if (!normalizer.is_spaces() || !is_all_plain || !has_mark(spec))
    return;
  TextSpaces &spaces = characters.spaces;
  spaces.prefix = normalizer.options.add_dummy_prefix ? TextSpaces::Prefix::ALWAYS
                                                      : TextSpaces::Prefix::NONE;
  spaces.are_marks = spaces.replaces_invalid = spaces.precedes_tokens = true;
  spec.sentencepiece.reset();
}

std::string use_character_spec(TokenizerSpec &spec) {
  const bool is_sentencepiece = spec.sentencepiece.has_value();
  TokenizerSettings before = spec;
  const TextSpec &text = *spec.text;
  CharacterSpec &options = spec.characters.emplace();
  bool is_fit = spec.split_at_marks != SplitAtMarks::OTHER && text.prefix.empty() &&
                text.suffix.empty() && !text.byte_level && !spec.vocabulary.ignore_merges &&
                !spec.add_prefix_space;
  options.splits_at_marks = spec.split_at_marks == SplitAtMarks::YES;
  if (is_sentencepiece) {
    use_sentencepiece(spec);
    is_fit = is_fit && !(spec.sentencepiece && options.splits_at_marks);
  } else {
    is_fit = is_fit && use_chain(spec, options);
  }
  const std::string problem =
      is_fit ? problem_of_characters(spec) : "has options that SentencePiece does not have";
  if (!problem.empty()) {
    static_cast<TokenizerSettings &>(spec) = std::move(before);
    return is_sentencepiece ? problem : "";
  }
  spec.steps.clear();
  spec.metaspace.reset();
  spec.stages.clear();
  return "";
}

std::string problem_of_text(const TokenizerSpec &spec) {
  const TextSpec &text = *spec.text;
  bool has_unknown = text.unknown_id == NO_ID;
  bool has_bytes = false;
  std::size_t at = 0;
  for (const std::string_view token : texts_of(spec)) {
    if (!is_utf8(token))
      return "has a token that is not UTF-8";
    has_bytes = has_bytes || fallback_of(text, token);
    has_unknown = has_unknown || spec.vocabulary.ids[at] == text.unknown_id;
    ++at;
  }
  if (!has_unknown)
    return "lacks the unknown token";
  if (has_bytes && text.byte_level)
    return "has fallback tokens, although its characters stand for bytes";
  if (has_bytes && !(text.prefix.empty() && text.suffix.empty()))
    return "has fallback tokens, and a prefix or suffix of tokens";
  return "";
}

} // namespace pretok
