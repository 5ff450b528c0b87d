// Added tokens, which are found in a text before it is split. bpe/encoding/added_tokens.py is
// the twin.
#pragma once

#include "core/encode/token_matcher.hpp"
#include "core/unicode/word_characters.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pretok {

// Says what the special ones among the added tokens of a text become.
enum class Treatment { RAISE, TEXT, ALLOW };

struct AddedToken {
  std::string content;
  std::uint32_t id = 0;
  bool normalized = false;  // searched for in normalized text, after all that are not
  bool lstrip = false;      // takes the white space before it along
  bool rstrip = false;      // takes the white space after it along
  bool single_word = false; // counts only where no word character stands beside it
  bool special = false;     // becomes what the Treatment says; other tokens are always tokens
};

// A part of a text, from byte `start` to `end`: an added token, or text (nullptr).
struct Segment {
  std::size_t start;
  std::size_t end;
  const AddedToken *token;
};

// A token that must not be in the text, where it was found; nullptr: there is none.
struct Refusal {
  const AddedToken *token = nullptr;
  std::size_t position = 0;
};

// Finds added tokens. Copies share what is large.
class AddedTokens {
public:
  // `words` are the word characters, which matter only to tokens that are a single word. With
  // `nfc` the text is normalized, and so are the contents of normalized tokens before they are
  // searched for. Two tokens may then be found as the same bytes: special ones count first,
  // then the first of `tokens`. Allows special tokens. Throws std::length_error for
  // TokenMatcher::MAX_BYTES or more.
  AddedTokens(const std::vector<AddedToken> &tokens, CodePointRanges words, bool nfc = false);

  // Returns these with another treatment of special tokens.
  AddedTokens treating(Treatment treatment) const;
  // Returns only those that are found in text as it is, or only those found once it is
  // normalized.
  AddedTokens exact() const { return of_phase(false); }
  AddedTokens normalized() const { return of_phase(true); }

  // Calls emit(segment) for all of a text, in order; text between tokens is never empty. Stops
  // at a token that is refused. Linear time, whatever the tokens are.
  template <typename Emit>
  Refusal split(const std::uint8_t *data, std::size_t size, Emit &&emit) const {
    return search(0, data, 0, size, emit);
  }

  // The size of the longest in bytes, 0 if there are none.
  std::size_t longest() const { return longest_; }
  // Whether one may take white space along.
  bool strips() const { return strips_; }

  // Returns the last places from `from` to `to` in a row that no token can include or touch,
  // nor the white space that it takes along at its end, whatever comes after data[to). (So a
  // token that begins after them has a byte between.) data[from - longest()..to) decides.
  // Linear time.
  ClearPlaces clear_places(const std::uint8_t *data, std::size_t from, std::size_t to) const;

  static bool is_white_space_before(const std::uint8_t *data, std::size_t start,
                                    std::size_t at);

private:
  // The tokens of one phase, in the order of the patterns of `matcher`.
  struct Finder {
    Finder(std::vector<AddedToken> of, const std::vector<std::string_view> &patterns)
        : tokens(std::move(of)), matcher(patterns) {}

    std::vector<AddedToken> tokens;
    TokenMatcher matcher;
    bool normalized = false;
    bool all_special = true;
    bool strips = false;
  };

  // White space from `start` to `end`.
  struct Spaces {
    std::size_t start = 0;
    std::size_t end = 0;
  };

  template <typename Emit>
  Refusal search(std::size_t phase, const std::uint8_t *data, std::size_t start,
                 std::size_t end, Emit &emit) const {
    // Most texts have no place at which a token could begin: this much is to be inlined.
    for (; phase < finders_.size(); ++phase) {
      const std::size_t at = finders_[phase]->matcher.next(data, start, end);
      if (at < end)
        return search_from(at, phase, data, start, end, emit);
    }
    if (start < end)
      emit(Segment{start, end, nullptr});
    return {};
  }

  // Searches as `search` does; no token of the phase begins before `at`.
  template <typename Emit>
  Refusal search_from(std::size_t at, std::size_t phase, const std::uint8_t *data,
                      std::size_t start, std::size_t end, Emit &emit) const {
    const Finder &finder = *finders_[phase];
    std::size_t done = start;
    Spaces spaces; // the last ones that a token took along at its end
    Refusal refusal;
    const auto visit = [&](std::size_t pattern, std::size_t first, std::size_t last) {
      const AddedToken &token = finder.tokens[pattern];
      if (token.special && treatment_ == Treatment::TEXT)
        return true; // As in tokenizers, nothing is looked for in it.
      if (token.single_word &&
          (is_word_before(data, start, first) || is_word_at(data, last, end)))
        return true;
      const bool is_refused = token.special && treatment_ == Treatment::RAISE;
      if (token.lstrip && !is_refused)
        first = skip_back(data, start, done, first);
      if (token.rstrip && !is_refused)
        last = skip(data, last, end, spaces);
      if (first >= last)
        return true;
      // What comes first is refused first, whatever phase it is found in.
      if (done < first)
        refusal = search(phase + 1, data, done, first, emit);
      if (refusal.token == nullptr && is_refused)
        refusal = {&token, first};
      if (refusal.token != nullptr)
        return false;
      emit(Segment{first, last, &token});
      done = last;
      return true;
    };
    if (!finder.matcher.each_match(data, at, end, visit))
      return refusal;
    return done < end ? search(phase + 1, data, done, end, emit) : Refusal{};
  }

  AddedTokens() = default;
  AddedTokens of_phase(bool normalized) const;
  void add_finder(const std::vector<AddedToken> &tokens, bool normalized, bool nfc);
  void add_shared(const std::shared_ptr<const Finder> &finder);

  bool is_word_before(const std::uint8_t *data, std::size_t start, std::size_t at) const;
  bool is_word_at(const std::uint8_t *data, std::size_t at, std::size_t end) const;
  bool is_word(std::uint32_t code_point) const;
  // Returns where the white space before `at` begins, or `done` if that is later: what the
  // token before has taken stays with it.
  static std::size_t skip_back(const std::uint8_t *data, std::size_t start, std::size_t done,
                               std::size_t at);
  // Returns where the white space at `at` ends; `spaces` remembers it, so that no white space
  // is looked at again for each token within it.
  static std::size_t skip(const std::uint8_t *data, std::size_t at, std::size_t end,
                          Spaces &spaces);

  // That for text as it is, then that for normalized text.
  std::vector<std::shared_ptr<const Finder>> finders_;
  std::shared_ptr<const CodePointRanges> words_;
  Treatment treatment_ = Treatment::ALLOW;
  std::size_t longest_ = 0;
  bool strips_ = false;
};

} // namespace pretok
