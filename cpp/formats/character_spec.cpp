#include "formats/character_spec.hpp"

#include "core/unicode/utf8.hpp"
#include "formats/piece_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace pretok {
namespace {

constexpr std::string_view INVALID_MARK = "\xEF\xBF\xBD"; // U+FFFD

// Returns the value of an uppercase hexadecimal digit. Returns 16 for other characters.
std::uint32_t digit_of(char digit) {
  return digit >= '0' && digit <= '9'   ? static_cast<std::uint32_t>(digit - '0')
         : digit >= 'A' && digit <= 'F' ? static_cast<std::uint32_t>(digit - 'A' + 10)
                                        : 16;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

} // namespace

bool is_plain(const AddedToken &token) {
  return !token.lstrip && !token.rstrip && !token.single_word && !has(token.content, " ") &&
         !has(token.content, SPACE_MARK) && !has(token.content, INVALID_MARK);
}

bool has_mark(const TokenizerSpec &spec) {
  const VocabularyData &data = spec.vocabulary;
  const auto *at = reinterpret_cast<const char *>(data.bytes.data());
  for (std::size_t i = 0; i < data.mergeable; at += data.lengths[i++])
    if (std::string_view(at, data.lengths[i]) == SPACE_MARK)
      return true;
  return false;
}

std::string problem_of_charsmap(const std::vector<std::uint8_t> &charsmap,
                                std::size_t *growth) {
  if (charsmap.empty())
    return "";
  constexpr std::size_t UNITS = 1024; // the trie has a multiple of this number of bytes
  const std::size_t left = std::max<std::size_t>(charsmap.size(), 4) - 4;
  std::size_t trie = 0;
  for (std::size_t i = 0; left != 0 && i < 4; ++i)
    trie |= std::size_t{charsmap[i]} << 8 * i;
  if (trie == 0 || trie % UNITS != 0 || trie > left)
    return "is truncated";
  const auto *const pool = reinterpret_cast<const char *>(charsmap.data()) + 4 + trie;
  const std::string_view replacements(pool, left - trie);
  if ((!replacements.empty() && replacements.back() != 0) || !is_utf8(replacements))
    return "has a replacement that is not UTF-8 or has no end";
  Charsmap rules(charsmap.data(), charsmap.size());
  const char *const problem = rules.find_problem();
  if (growth != nullptr)
    *growth = rules.max_growth();
  return problem == nullptr ? "" : problem;
}

SentencePieceNormalizer make_normalizer(const TokenizerSpec &spec) {
  std::vector<std::string> symbols;
  for (const AddedToken &token : spec.added)
    if (token.normalized)
      symbols.push_back(token.content);
  const SentencePieceSpec &normalizer = *spec.sentencepiece;
  Charsmap charsmap(normalizer.charsmap.data(), normalizer.charsmap.size());
  charsmap.find_problem(); // sets max_growth(); the reader has found no problem
  return {normalizer.options, std::move(charsmap), Symbols(std::move(symbols))};
}

std::optional<std::uint8_t> fallback_byte(std::string_view text) {
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text[5] != '>')
    return std::nullopt;
  const std::uint32_t high = digit_of(text[3]);
  const std::uint32_t low = digit_of(text[4]);
  if (high > 15 || low > 15)
    return std::nullopt;
  return static_cast<std::uint8_t>(high << 4 | low);
}

std::vector<std::string_view> texts_of(const TokenizerSpec &spec) {
  std::vector<std::string_view> texts;
  texts.reserve(spec.vocabulary.lengths.size());
  const auto *at = reinterpret_cast<const char *>(spec.vocabulary.bytes.data());
  for (const std::uint32_t length : spec.vocabulary.lengths) {
    texts.emplace_back(at, length);
    at += length;
  }
  return texts;
}

ScoredPieces scored_pieces(const TokenizerSpec &spec) {
  ScoredPieces pieces;
  const std::vector<std::string_view> texts = texts_of(spec);
  pieces.texts.reserve(spec.scores.size());
  pieces.ids.reserve(spec.scores.size());
  pieces.scores.reserve(spec.scores.size());
  for (std::size_t i = 0; i < spec.scores.size(); ++i)
    if (!std::isnan(spec.scores[i])) {
      pieces.texts.push_back(texts[i]);
      pieces.ids.push_back(spec.vocabulary.ids[i]);
      pieces.scores.push_back(spec.scores[i]);
    }
  return pieces;
}

std::uint32_t first_step(const TokenizerSpec &spec) {
  std::uint32_t first = 0;
  for (const std::uint32_t id : spec.vocabulary.ids)
    first = std::max(first, id + 1);
  for (const AddedToken &token : spec.added)
    first = std::max(first, token.id + 1);
  return first;
}

std::uint32_t max_steps(const TokenizerSpec &spec) {
  // A step is a symbol that only merging needs: a byte, or the first bytes of a character.
  // There is at most one step for each byte, and at most three steps for each token of one
  // character. Such tokens have at most 4 bytes, so count the tokens of up to 4 bytes.
  const auto characters =
      std::count_if(spec.vocabulary.lengths.begin(), spec.vocabulary.lengths.end(),
                    [](std::uint32_t length) { return length <= 4; });
  return 256 + 3 * static_cast<std::uint32_t>(characters);
}

// Returns by id whether an added token is special.
static std::vector<bool> special_ids(const TokenizerSpec &spec) {
  std::vector<bool> is_special(first_step(spec));
  for (const AddedToken &token : spec.added)
    if (token.special)
      is_special[token.id] = true;
  return is_special;
}

bool cover_characters(const std::vector<std::string_view> &texts) {
  std::array<bool, 256> is_covered{};
  for (const std::string_view text : texts) {
    if (const std::optional<std::uint8_t> byte = fallback_byte(text))
      is_covered[*byte] = true;
    else if (text.size() == 1 && text != " ")
      is_covered[static_cast<std::uint8_t>(text[0])] = true;
  }
  return std::find(is_covered.begin(), is_covered.end(), false) == is_covered.end();
}

// Returns the ids of the fallback tokens by byte, or {} if there are none.
static std::vector<std::uint32_t> fallback_of(const CharacterModel &model) {
  std::vector<std::uint32_t> ids;
  for (std::size_t i = 0; i < model.texts.size(); ++i)
    if (const std::optional<std::uint8_t> byte = fallback_byte(model.texts[i])) {
      ids.resize(256, NO_ID);
      ids[*byte] = model.ids[i];
    }
  return ids;
}

CharacterModel model_of(const TokenizerSpec &spec, bool has_spaces) {
  const VocabularyData &data = spec.vocabulary;
  CharacterModel model;
  model.texts = texts_of(spec);
  model.texts.resize(data.mergeable);
  model.ids.assign(data.ids.begin(),
                   data.ids.begin() + static_cast<std::ptrdiff_t>(data.mergeable));
  model.merges = data.merges;
  model.has_spaces = has_spaces;
  model.first_step = first_step(spec);
  const TextSpec &text = *spec.text;
  model.unknown = text.unknown_id;
  model.fuses_unknown = text.fuses_unknown;
  model.prefix = text.prefix;
  model.suffix = text.suffix;
  model.byte_level = text.byte_level;
  if (text.has_fallback)
    model.fallback = fallback_of(model);
  if (data.ignore_merges) {
    const std::vector<bool> is_special = special_ids(spec);
    for (const std::uint32_t id : model.ids)
      model.is_whole.push_back(!is_special[id]);
  }
  return model;
}

VocabularyData decoded_tokens(const TokenizerSpec &spec) {
  const VocabularyData &texts = spec.vocabulary;
  VocabularyData data;
  data.lengths = texts.lengths;
  data.ids = texts.ids;
  data.mergeable = texts.mergeable;
  std::size_t i = 0;
  for (const std::string_view text : texts_of(spec)) {
    const bool may_be_fallback =
        !spec.characters && spec.text->has_fallback && i < texts.mergeable;
    if (const auto byte = may_be_fallback ? fallback_byte(text) : std::nullopt) {
      data.bytes.push_back(*byte);
      data.lengths[i] = 1;
    } else {
      data.bytes.insert(data.bytes.end(), text.begin(), text.end());
    }
    ++i;
  }
  return data;
}

} // namespace pretok
