#include "formats/character_spec.hpp"

#include <algorithm>

namespace pretok {
namespace {

// Returns the digit of an uppercase hexadecimal digit, or 16.
std::uint32_t digit_of(char digit) {
  return digit >= '0' && digit <= '9'   ? static_cast<std::uint32_t>(digit - '0')
         : digit >= 'A' && digit <= 'F' ? static_cast<std::uint32_t>(digit - 'A' + 10)
                                        : 16;
}

// Returns whether no merge crosses the place before a mark that follows another character.
bool allows_cuts(const TokenizerSpec &spec) {
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

} // namespace

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
  // A step for each byte, and up to three for each token of one character.
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
  model.has_spaces = true;
  VocabularyData data;
  build_characters(model, data);
  data.first_step = model.first_step;
  return data;
}

// Like `cut_before` in bpe/encoding/character_backend.py: an optional run of spaces and the
// text up to the next space, or text without spaces.
std::vector<StageProgram> character_stages(const TokenizerSpec &spec) {
  constexpr Mask OTHER = 1;
  constexpr Mask SPACE = 2;
  AlphabetRange before{0, {}};
  AlphabetRange space{' ', {}};
  space.class_map.fill(1);
  AlphabetRange after{' ' + 1, {}};
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
