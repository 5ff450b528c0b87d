#include "formats/character_model.hpp"

#include "core/bpe/character_merge.hpp"
#include "core/unicode/byte_level.hpp"
#include "core/unicode/utf8.hpp"
#include "formats/character_spec.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>

namespace pretok {
namespace {

constexpr std::size_t MAX_CHARACTER = 4; // the maximum size of a character in bytes

const std::uint8_t *utf8_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t *>(text.data());
}

// The first bytes of the UTF-8 of a character, or all its bytes. Has two to four bytes.
struct CharacterStart {
  std::uint32_t size;
  std::uint32_t bytes; // as one number; the first byte is the most significant
  std::uint32_t id;    // NO_ID: not a piece; such a start becomes a step (first_step)

  bool operator<(const CharacterStart &other) const {
    return std::tie(size, bytes, id) < std::tie(other.size, other.bytes, other.id);
  }
  bool has_bytes_of(const CharacterStart &other) const {
    return size == other.size && bytes == other.bytes;
  }
};

// Returns the piece with spaces in place of marks, or "" if the piece has a space: each space
// of a text stands for a mark, so no text becomes this piece.
std::string with_spaces(std::string_view text) {
  if (text.find(' ') != std::string_view::npos)
    return "";
  std::string spelled(text);
  for (std::size_t at = 0; (at = spelled.find(SPACE_MARK, at)) != std::string::npos; ++at)
    spelled.replace(at, SPACE_MARK.size(), " ");
  return spelled;
}

// Makes the vocabulary of bytes of a model that merges_bytes.
class ByteBuilder {
public:
  ByteBuilder(const CharacterModel &model, VocabularyData &data) : model_(model), data_(data) {
    bytes_.fill(NO_ID);
    std::copy(model.fallback.begin(), model.fallback.end(), bytes_.begin());
    is_token_.resize(model.first_step);
    next_step_ = model.first_step;
  }

  void build() {
    std::vector<char> is_merged(model_.first_step);
    for (const Merge &merge : model_.merges)
      is_merged[merge.left] = is_merged[merge.right] = is_merged[merge.id] = true;
    for (std::size_t i = 0; i < model_.texts.size(); ++i) {
      const std::string_view text = model_.texts[i];
      const bool is_one = decode_utf8(utf8_of(text), text.size()).width == text.size();
      if (is_one || is_merged[model_.ids[i]])
        add_piece(text, model_.ids[i], is_one);
    }
    add_bytes();
    add_starts();
    for (const Merge &merge : model_.merges)
      if (is_token_[merge.left] && is_token_[merge.right] && is_token_[merge.id])
        data_.merges.push_back(merge);
    data_.mergeable = data_.ids.size();
    data_.from_ranks = data_.ignore_merges = false;
  }

private:
  // Adds a piece. `is_one` says that it is a single character.
  void add_piece(std::string_view text, std::uint32_t id, bool is_one) {
    std::string spelled;
    if (model_.has_spaces) {
      spelled = with_spaces(text);
      if (spelled.empty())
        return;
      text = spelled;
    }
    is_token_[id] = true;
    if (text.size() == 1)
      bytes_[utf8_of(text)[0]] = id;
    else
      data_.add(text, id);
    if (is_one)
      for (std::size_t size = 2; size <= text.size(); ++size)
        starts_.push_back({static_cast<std::uint32_t>(size), packed(utf8_of(text), size),
                           size == text.size() ? id : NO_ID});
  }

  // Adds a token for each byte. A byte without a fallback token or a piece becomes a step,
  // which is a symbol that only merging needs.
  void add_bytes() {
    for (std::size_t byte = 0; byte < bytes_.size(); ++byte) {
      if (bytes_[byte] == NO_ID)
        bytes_[byte] = next_step_++;
      data_.add(std::string(1, static_cast<char>(byte)), bytes_[byte]);
    }
  }

  // Adds merges that make each character of its bytes: a start and the next byte become a
  // longer start. Adds a step for each start that is not a piece. Adds shorter starts first,
  // because each merge takes a shorter start as its left part.
  void add_starts() {
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end(),
                              [](const CharacterStart &a, const CharacterStart &b) {
                                return a.has_bytes_of(b);
                              }),
                  starts_.end());
    for (CharacterStart &start : starts_) {
      const auto last = static_cast<std::uint8_t>(start.bytes);
      const std::uint32_t front = start.bytes >> 8;
      if (start.id == NO_ID) {
        start.id = next_step_++;
        std::string bytes;
        for (std::uint32_t i = start.size; i != 0; --i)
          bytes += static_cast<char>(start.bytes >> 8 * (i - 1));
        data_.add(bytes, start.id);
      }
      const std::uint32_t left = start.size == 2 ? bytes_[front] : find(start.size - 1, front);
      data_.merges.push_back({left, bytes_[last], start.id});
    }
  }

  // Returns the id of the start with these bytes.
  std::uint32_t find(std::uint32_t size, std::uint32_t bytes) const {
    return std::lower_bound(starts_.begin(), starts_.end(), CharacterStart{size, bytes, 0})->id;
  }

  // Returns `bytes` as CharacterStart stores them.
  static std::uint32_t packed(const std::uint8_t *bytes, std::size_t size) {
    std::uint32_t result = 0;
    for (std::size_t i = 0; i < size; ++i)
      result = result << 8 | bytes[i];
    return result;
  }

  const CharacterModel &model_;
  VocabularyData &data_;
  std::array<std::uint32_t, 256> bytes_; // the id of each byte
  std::vector<char> is_token_;           // by id: whether add_piece has added the piece
  std::vector<CharacterStart> starts_;   // of the pieces that are single characters
  std::uint32_t next_step_;
};

// Returns the character of a piece that has `prefix` before the character and `suffix` after
// it; NO_ID if the piece is none. A character may be a byte (CharacterToken).
std::uint32_t character_of(std::string_view piece, std::string_view prefix,
                           std::string_view suffix, const CharacterModel &model) {
  if (piece.size() <= prefix.size() + suffix.size() ||
      piece.substr(0, prefix.size()) != prefix ||
      piece.substr(piece.size() - suffix.size()) != suffix)
    return NO_ID;
  piece.remove_prefix(prefix.size());
  piece.remove_suffix(suffix.size());
  const Decoded decoded = decode_utf8(utf8_of(piece), piece.size());
  if (decoded.width != piece.size() || (model.has_spaces && piece == " "))
    return NO_ID;
  if (model.byte_level) {
    std::vector<std::uint8_t> byte;
    return append_bytes(piece, byte) ? byte[0] : NO_ID;
  }
  return model.has_spaces && piece == SPACE_MARK ? ' ' : decoded.code_point;
}

CharacterData character_data(const CharacterModel &model) {
  CharacterData data;
  const std::size_t longest = MAX_CHARACTER + model.prefix.size() + model.suffix.size();
  for (std::size_t i = 0; i < model.texts.size(); ++i) {
    const std::string_view text = model.texts[i];
    for (unsigned place = 0; place < 4 && text.size() <= longest; ++place) {
      const bool is_first = (place & unsigned(CharacterPlace::FIRST)) != 0;
      const bool is_last = (place & unsigned(CharacterPlace::LAST)) != 0;
      const std::uint32_t character =
          character_of(text, is_first ? "" : model.prefix, is_last ? model.suffix : "", model);
      if (character != NO_ID)
        data.tokens.push_back({character, CharacterPlace(place), model.ids[i]});
    }
    if (!model.is_whole.empty() && model.is_whole[i]) {
      std::vector<std::uint8_t> whole(text.begin(), text.end());
      if (model.byte_level)
        whole.clear();
      if (!model.byte_level || append_bytes(text, whole))
        data.whole.push_back({std::move(whole), model.ids[i]});
    }
  }
  data.unknown = model.unknown;
  data.fuses_unknown = model.fuses_unknown;
  data.fallback = model.fallback;
  // GPT-2's characters have one byte if they are printable ASCII, and else two.
  for (std::size_t byte = 0; model.byte_level && byte < 256; ++byte)
    data.byte_widths.push_back(byte > ' ' && byte < 0x7F ? 1 : 2);
  return data;
}

VocabularyData tokens_of(const CharacterModel &model) {
  VocabularyData data;
  for (std::size_t i = 0; i < model.texts.size(); ++i)
    data.add(model.texts[i], model.ids[i]);
  return data;
}

// Appends the tokens whose ids `data` lacks.
void append_others(const VocabularyData &tokens, VocabularyData &data) {
  std::vector<bool> is_known(data.first_step);
  for (const std::uint32_t id : data.ids)
    if (id < data.first_step)
      is_known[id] = true;
  const auto *at = reinterpret_cast<const char *>(tokens.bytes.data());
  for (std::size_t i = 0; i < tokens.ids.size(); at += tokens.lengths[i++])
    if (!is_known[tokens.ids[i]])
      data.add({at, tokens.lengths[i]}, tokens.ids[i]);
}

StageProgram stage_of(std::uint32_t mark) {
  AlphabetRange before{0, {}};
  AlphabetRange marks{mark, {}};
  marks.class_map.fill(1);
  AlphabetRange after{mark + 1, {}};
  StageProgram stage;
  stage.program.alphabet = {before, marks, after};
  return stage;
}

constexpr Mask OTHER = 1;
constexpr Mask MARK = 2;

} // namespace

bool CharacterModel::covers_characters() const {
  return !fallback.empty() && cover_characters(texts);
}

bool CharacterModel::merges_bytes() const {
  if (!prefix.empty() || !suffix.empty() || byte_level || !is_whole.empty() ||
      !covers_characters())
    return false;
  // There is at most one step for each byte, and at most three steps for each piece of one
  // character, which has at most four bytes.
  const auto characters = std::count_if(texts.begin(), texts.end(), [](std::string_view text) {
    return text.size() <= MAX_CHARACTER;
  });
  if (first_step + 256 + 3 * static_cast<std::uint64_t>(characters) > ID_LIMIT)
    return false;
  std::vector<bool> is_unmerged(first_step);
  for (const std::uint32_t id : fallback)
    if (id != NO_ID)
      is_unmerged[id] = true;
  if (unknown != NO_ID)
    is_unmerged[unknown] = true;
  return std::none_of(merges.begin(), merges.end(), [&](const Merge &merge) {
    return is_unmerged[merge.left] || is_unmerged[merge.right] || is_unmerged[merge.id];
  });
}

bool CharacterModel::allows_cuts() const {
  // A dropped character lets its neighbors merge.
  const bool drops = unknown == NO_ID && !covers_characters();
  if (!prefix.empty() || !suffix.empty() || byte_level || drops ||
      std::find(texts.begin(), texts.end(), SPACE_MARK) == texts.end())
    return false;
  std::vector<bool> has_inner_mark(first_step);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string_view text = texts[i];
    while (text.substr(0, SPACE_MARK.size()) == SPACE_MARK)
      text.remove_prefix(SPACE_MARK.size());
    has_inner_mark[ids[i]] = !is_ascii(utf8_of(text), text.size()) &&
                             text.find(SPACE_MARK) != std::string_view::npos;
  }
  return std::none_of(merges.begin(), merges.end(),
                      [&](const Merge &merge) { return bool{has_inner_mark[merge.id]}; });
}

const char *build_characters(const CharacterModel &model, VocabularyData &&tokens,
                             Vocabulary &vocabulary) {
  if (!tokens.for_short_texts && model.merges_bytes()) {
    VocabularyData data;
    ByteBuilder(model, data).build();
    data.first_step = model.first_step;
    if (!model.has_spaces)
      append_others(tokens, data);
    return vocabulary.build(std::move(data));
  }
  auto characters = std::make_unique<CharacterMerge>();
  if (const char *const problem = characters->build(character_data(model)))
    return problem;
  if (model.has_spaces)
    tokens = tokens_of(model);
  tokens.merges = model.merges;
  tokens.from_ranks = tokens.ignore_merges = false;
  return vocabulary.build(std::move(tokens), std::move(characters));
}

std::vector<StageProgram> cut_at_marks(bool at_runs, bool has_spaces) {
  StageProgram stage = stage_of(has_spaces ? ' ' : 0x2581);
  Run words;
  words.body = MARK;
  words.tail = OTHER;
  words.at_most = at_runs ? 0 : 1;
  Run others;
  others.body = OTHER;
  stage.program.rules = {words, others};
  return {stage};
}

std::vector<StageProgram> cut_nowhere() {
  StageProgram stage = stage_of(' ');
  Run all;
  all.body = OTHER | MARK;
  stage.program.rules = {all};
  return {stage};
}

bool keeps_whole(const std::vector<StageProgram> &stages) {
  const StageProgram &stage = stages.front();
  const Run *const run = std::get_if<Run>(&stage.program.rules.front());
  if (stages.size() != 1 || stage.behavior != Behavior::ISOLATED || stage.invert ||
      run == nullptr || run->at_most != 0 || run->at_least != 1)
    return false;
  const Alphabet &alphabet = stage.program.alphabet;
  return std::all_of(alphabet.begin(), alphabet.end(), [&](const AlphabetRange &range) {
    return std::all_of(range.class_map.begin(), range.class_map.end(),
                       [&](std::uint8_t code_class) { return has(run->body, code_class); });
  });
}

} // namespace pretok
