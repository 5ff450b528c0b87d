#include "formats/character_spec.hpp"

#include "core/unicode/utf8.hpp"
#include "formats/load_error.hpp"
#include "formats/piece_file.hpp"

#include <algorithm>
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

// Returns whether text can be cut before each run of marks ("▁"). Such a cut changes no ids if
// the mark is a token, and no merge makes a token that has a mark after a character that is not
// a mark.
bool allows_cuts(const TokenizerSpec &spec) {
  if (!has_mark(spec))
    return false;
  const std::vector<std::string_view> texts = texts_of(spec);
  std::vector<bool> has_inner_mark(first_step(spec));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string_view text = texts[i];
    while (text.substr(0, SPACE_MARK.size()) == SPACE_MARK)
      text.remove_prefix(SPACE_MARK.size());
    has_inner_mark[spec.vocabulary.ids[i]] = text.find(SPACE_MARK) != std::string_view::npos;
  }
  const std::vector<Merge> &merges = spec.vocabulary.merges;
  return std::none_of(merges.begin(), merges.end(),
                      [&](const Merge &merge) { return bool{has_inner_mark[merge.id]}; });
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Adds the token of a character, which is the same at all places.
void add_character(std::uint32_t code_point, std::uint32_t id, CharacterData &data) {
  for (const CharacterPlace place : {CharacterPlace::INNER, CharacterPlace::FIRST,
                                     CharacterPlace::LAST, CharacterPlace::ONLY})
    data.tokens.push_back({code_point, place, id});
}

} // namespace

bool is_plain(const AddedToken &token) {
  return !token.lstrip && !token.rstrip && !token.single_word && !has(token.content, " ") &&
         !has(token.content, SPACE_MARK) && !has(token.content, INVALID_MARK);
}

bool has_mark(const TokenizerSpec &spec) {
  const std::vector<std::string_view> texts = texts_of(spec);
  const auto end = texts.begin() + static_cast<std::ptrdiff_t>(spec.vocabulary.mergeable);
  return std::find(texts.begin(), end, SPACE_MARK) != end;
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
  const SentencePieceSpec &normalizer = *spec.characters->normalizer;
  std::vector<std::string> symbols;
  for (const AddedToken &token : spec.added)
    if (token.normalized)
      symbols.push_back(token.content);
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

VocabularyData byte_vocabulary(const TokenizerSpec &spec) {
  const VocabularyData &texts = spec.vocabulary;
  CharacterModel model;
  model.texts = texts_of(spec);
  model.texts.resize(texts.mergeable);
  model.ids.assign(texts.ids.begin(),
                   texts.ids.begin() + static_cast<std::ptrdiff_t>(texts.mergeable));
  model.merges = texts.merges;
  model.fallback.resize(256);
  for (std::size_t i = 0; i < model.texts.size(); ++i)
    if (const std::optional<std::uint8_t> byte = fallback_byte(model.texts[i]))
      model.fallback[*byte] = model.ids[i];
  model.first_step = first_step(spec);
  model.has_spaces = !spec.characters->normalizer;
  VocabularyData data;
  build_characters(model, data);
  data.first_step = model.first_step;
  return data;
}

CharacterData character_data(const TokenizerSpec &spec) {
  const bool has_spaces = !spec.characters->normalizer;
  const std::vector<std::string_view> texts = texts_of(spec);
  CharacterData data;
  for (std::size_t i = 0; i < spec.vocabulary.mergeable; ++i) {
    const auto *const bytes = reinterpret_cast<const std::uint8_t *>(texts[i].data());
    const Decoded character = decode_utf8(bytes, texts[i].size());
    // With spaces in place of marks, no text has a mark, and a space stands for a mark.
    if (character.width != texts[i].size() || (has_spaces && texts[i] == " "))
      continue;
    const std::uint32_t code_point =
        has_spaces && texts[i] == SPACE_MARK ? ' ' : character.code_point;
    add_character(code_point, spec.vocabulary.ids[i], data);
  }
  data.unknown = spec.characters->unknown_id;
  data.fuses_unknown = spec.characters->fuses_unknown;
  return data;
}

// Without a normalizer, the vocabulary has spaces in place of marks, so these stages cut at
// spaces; with one, they cut at marks. There are three cases:
//   - The model splits text before marks: a pre-token is at most one space, and the text up to
//     the next space.
//   - Otherwise, allows_cuts is true: a pre-token may begin with a run of spaces, and has the
//     text up to the next space.
//   - Otherwise, the whole text is one pre-token.
// `cut_before` in bpe/encoding/character_encoder.py returns the same rules in Python.
std::vector<StageProgram> character_stages(const TokenizerSpec &spec) {
  constexpr Mask OTHER = 1;
  constexpr Mask SPACE = 2;
  AlphabetRange before{0, {}};
  const std::uint32_t mark = spec.characters->normalizer ? 0x2581 : ' ';
  AlphabetRange space{mark, {}};
  space.class_map.fill(1);
  AlphabetRange after{mark + 1, {}};
  const bool splits = spec.characters->splits_at_marks;
  StageProgram stage;
  stage.program.alphabet = {before, space, after};
  if (splits || allows_cuts(spec)) {
    Run words;
    words.body = SPACE;
    words.tail = OTHER;
    words.at_most = splits ? 1 : 0;
    Run others;
    others.body = OTHER;
    stage.program.rules = {words, others};
  } else {
    Run all;
    all.body = OTHER | SPACE;
    stage.program.rules = {all};
  }
  return {stage};
}

} // namespace pretok
