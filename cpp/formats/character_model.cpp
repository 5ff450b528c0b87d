#include "formats/character_model.hpp"

#include "core/base/ids.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <tuple>

namespace pretok {
namespace {

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

class CharacterBuilder {
public:
  CharacterBuilder(const CharacterModel &model, VocabularyData &data)
      : model_(model), data_(data) {
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
      if (text.find(' ') != std::string_view::npos)
        return; // no text becomes this piece, because each space of a text becomes a mark
      if (text.find(SPACE_MARK) != std::string_view::npos) {
        spelled = text;
        for (std::size_t at = 0; (at = spelled.find(SPACE_MARK, at)) != std::string::npos; ++at)
          spelled.replace(at, SPACE_MARK.size(), " ");
        text = spelled;
      }
    }
    is_token_[id] = true;
    if (text.size() == 1)
      bytes_[utf8_of(text)[0]] = id;
    else
      add_token(utf8_of(text), text.size(), id);
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
      const auto value = static_cast<std::uint8_t>(byte);
      add_token(&value, 1, bytes_[byte]);
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
        std::array<std::uint8_t, 4> bytes{};
        for (std::uint32_t i = 0; i < start.size; ++i)
          bytes[i] = static_cast<std::uint8_t>(start.bytes >> 8 * (start.size - 1 - i));
        add_token(bytes.data(), start.size, start.id);
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

  void add_token(const std::uint8_t *bytes, std::size_t size, std::uint32_t id) {
    data_.bytes.insert(data_.bytes.end(), bytes, bytes + size);
    data_.lengths.push_back(static_cast<std::uint32_t>(size));
    data_.ids.push_back(id);
  }

  const CharacterModel &model_;
  VocabularyData &data_;
  std::array<std::uint32_t, 256> bytes_; // the id of each byte
  std::vector<char> is_token_;           // by id: whether add_piece has added the piece
  std::vector<CharacterStart> starts_;   // of the pieces that are single characters
  std::uint32_t next_step_;
};

} // namespace

void build_characters(const CharacterModel &model, VocabularyData &data) {
  CharacterBuilder(model, data).build();
}

} // namespace pretok
