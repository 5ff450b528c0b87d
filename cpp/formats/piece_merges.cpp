#include "formats/piece_merges.hpp"

#include "core/base/bits.hpp"
#include "core/base/ids.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/unicode/utf8.hpp"
#include "formats/text_model.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

namespace pretok {
namespace {

constexpr std::size_t CODE_POINTS = 0x110000;

std::size_t first_width(std::string_view text) {
  return decode_utf8(reinterpret_cast<const std::uint8_t *>(text.data()), text.size()).width;
}

bool is_character(std::string_view text) {
  constexpr std::size_t MAX_WIDTH = 4; // of a character in bytes
  return text.size() <= MAX_WIDTH && first_width(text) == text.size();
}

// Finds the merges of words: the pieces of several characters. Builds a vocabulary of bytes
// whose ids are ranks: first the bytes, then the beginnings of characters, then the words.
// Vocabulary::find_merges finds the merges of such a vocabulary. The merges that make words are
// the result.
class MergeFinder {
public:
  // `words` has the indices in `pieces` of words with distinct scores, the best score first.
  MergeFinder(const ScoredPieces &pieces, const std::vector<std::uint32_t> &words)
      : pieces_(pieces), words_(words) {}

  LoadError find(std::vector<Merge> &merges) {
    for (std::uint32_t byte = 0; byte < 256; ++byte)
      add(std::string(1, static_cast<char>(byte)));
    piece_ids_.assign(256, NO_ID);
    add_characters();
    const auto first_word = static_cast<std::uint32_t>(piece_ids_.size());
    for (const std::uint32_t word : words_) {
      add(pieces_.texts[word]);
      piece_ids_.push_back(pieces_.ids[word]);
    }
    data_.mergeable = data_.ids.size();
    Vocabulary vocabulary;
    if (data_.ids.size() >= ID_LIMIT || vocabulary.find_merges(std::move(data_)) != nullptr)
      return unsupported("the SentencePiece model has too many pieces");
    for (const Merge &merge : vocabulary.merges()) {
      if (merge.id < first_word)
        continue; // the merge makes a character, or the beginning of one
      const Merge of_pieces{piece_ids_[merge.left], piece_ids_[merge.right],
                            piece_ids_[merge.id]};
      if (of_pieces.left == NO_ID || of_pieces.right == NO_ID)
        return unsupported("piece ", of_pieces.id,
                           " of the SentencePiece model has a character that is not a piece, "
                           "which only Python reads");
      merges.push_back(of_pieces);
    }
    return {};
  }

private:
  // Adds the characters of all pieces, and their beginnings of at least two bytes.
  void add_characters() {
    const std::vector<std::string> starts = character_starts();
    for (const std::string &start : starts)
      add(start);
    piece_ids_.resize(256 + starts.size(), NO_ID);
    for (std::size_t i = 0; i < pieces_.texts.size(); ++i) {
      const std::string_view text = pieces_.texts[i];
      if (text.size() == 1)
        piece_ids_[static_cast<std::uint8_t>(text[0])] = pieces_.ids[i];
      else if (is_character(text))
        piece_ids_[256 + static_cast<std::size_t>(
                             std::lower_bound(starts.begin(), starts.end(), text) -
                             starts.begin())] = pieces_.ids[i];
    }
  }

  // Returns the characters of several bytes, and their beginnings of at least two bytes, in
  // order of bytes.
  std::vector<std::string> character_starts() const {
    // One bit for each code point; UTF-8 sorts in the same order.
    std::vector<std::uint64_t> is_used(CODE_POINTS / 64);
    for (const std::string_view text : pieces_.texts) {
      const auto *const bytes = reinterpret_cast<const std::uint8_t *>(text.data());
      for (std::size_t at = 0; at < text.size();) {
        const Decoded character = decode_utf8(bytes + at, text.size() - at);
        is_used[character.code_point / 64] |= std::uint64_t{1} << character.code_point % 64;
        at += character.width;
      }
    }
    std::vector<std::string> starts;
    std::string last;
    for (std::size_t at = 0x80 / 64; at < is_used.size(); ++at)
      for (std::uint64_t word = is_used[at]; word != 0; word &= word - 1) {
        std::array<std::uint8_t, 4> bytes{};
        const std::size_t width =
            encode_utf8(static_cast<std::uint32_t>(at * 64 + lowest_bit(word)), bytes.data());
        const std::string character(bytes.begin(),
                                    bytes.begin() + static_cast<std::ptrdiff_t>(width));
        for (std::size_t size = 2; size <= width; ++size)
          if (last.compare(0, size, character, 0, size) != 0)
            starts.push_back(character.substr(0, size));
        last = character;
      }
    return starts;
  }

  void add(std::string_view text) {
    data_.add(text, static_cast<std::uint32_t>(data_.ids.size()));
  }

  const ScoredPieces &pieces_;
  const std::vector<std::uint32_t> &words_;
  VocabularyData data_;
  std::vector<std::uint32_t> piece_ids_; // by rank; NO_ID if a symbol is not a piece
};

// Removes each of `words` that has the rank of a neighbor, and that no two symbols make: each
// of its two parts must be a character or a piece. `words` are in order of rank.
void drop_unmade(const ScoredPieces &pieces, const std::vector<std::uint32_t> &ranks,
                 std::vector<std::uint32_t> &words) {
  const TextIndex index(pieces.texts);
  const auto is_symbol = [&](std::string_view text) {
    return is_character(text) || index.find(text) != TextIndex::NO_TEXT;
  };
  const auto is_made = [&](std::string_view text) {
    for (std::size_t at = first_width(text); at < text.size();
         at += first_width(text.substr(at)))
      if (is_symbol(text.substr(0, at)) && is_symbol(text.substr(at)))
        return true;
    return false;
  };
  std::vector<std::uint32_t> kept;
  kept.reserve(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t rank = ranks[words[i]];
    const bool is_tied = (i != 0 && ranks[words[i - 1]] == rank) ||
                         (i + 1 < words.size() && ranks[words[i + 1]] == rank);
    if (!is_tied || is_made(pieces.texts[words[i]]))
      kept.push_back(words[i]);
  }
  words = std::move(kept);
}

} // namespace

std::uint32_t rank_of_score(float score) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &score, sizeof bits);
  return bits >> 31 != 0 ? bits : bits ^ 0x7FFFFFFF;
}

LoadError order_pieces(const ScoredPieces &pieces, PieceOrder &order) {
  std::vector<std::uint32_t> &words = order.words;
  words.reserve(pieces.texts.size());
  for (std::uint32_t i = 0; i < pieces.texts.size(); ++i)
    if (!is_character(pieces.texts[i]))
      words.push_back(i);
  std::vector<std::uint32_t> ranks(pieces.scores.size());
  std::transform(pieces.scores.begin(), pieces.scores.end(), ranks.begin(), rank_of_score);
  const auto is_better = [&](std::uint32_t a, std::uint32_t b) { return ranks[a] < ranks[b]; };
  // Files list pieces mostly by score, except runs of one character, which all have the lowest
  // score. For lists that are still not sorted std::stable_sort is mostly faster than
  // std::sort.
  const auto worst = std::max_element(words.begin(), words.end(), is_better);
  if (worst != words.end()) {
    const std::uint32_t highest = ranks[*worst];
    std::stable_partition(words.begin(), words.end(),
                          [&](std::uint32_t word) { return ranks[word] != highest; });
  }
  if (!std::is_sorted(words.begin(), words.end(), is_better))
    std::stable_sort(words.begin(), words.end(), is_better);
  const auto is_tie = [&](std::uint32_t a, std::uint32_t b) { return ranks[a] == ranks[b]; };
  std::vector<std::uint32_t> &runs = order.runs;
  for (const bool drops : {false, true}) {
    words.insert(words.end(), runs.begin(), runs.end());
    runs.clear();
    if (drops)
      drop_unmade(pieces, ranks, words);
    const auto tie = std::adjacent_find(words.begin(), words.end(), is_tie);
    if (tie == words.end())
      return {};
    runs.assign(tie, words.end());
    words.erase(tie, words.end());
    if (is_tie(runs.front(), runs.back()) &&
        find_run_merges(pieces, words, runs, order.run_merges))
      return {};
  }
  return unsupported("pieces ", pieces.ids[runs[0]], " and ", pieces.ids[runs[1]],
                     " of the SentencePiece model have equal scores, which only Python reads");
}

LoadError find_piece_merges(const ScoredPieces &pieces, std::vector<Merge> &merges) {
  PieceOrder order;
  if (LoadError error = order_pieces(pieces, order))
    return error;
  if (LoadError error = MergeFinder(pieces, order.words).find(merges))
    return error;
  merges.insert(merges.end(), order.run_merges.begin(), order.run_merges.end());
  return {};
}

} // namespace pretok
