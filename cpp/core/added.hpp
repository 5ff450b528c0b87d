// Added tokens, which are found in a text before it is split. bpe/special.py is the twin.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace pretok {

struct AddedToken {
  std::string content;
  std::uint32_t id = 0;
  bool normalized = false;  // searched for behind those that are not
  bool lstrip = false;      // takes white space before it along
  bool rstrip = false;      // takes white space behind it along
  bool single_word = false; // counts only where no word character stands beside it
  bool refused = false;     // must not be in the text
  bool as_text = false;     // remains text, as a whole: nothing is looked for in it
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

class AddedTokens {
public:
  // First and last code points of the ranges of word characters, ascending.
  using Ranges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

  AddedTokens(const std::vector<AddedToken> &tokens, Ranges words);

  // Calls emit(segment) for all of a text, in order; text between tokens is never empty. Stops
  // at a token that is refused. Linear time.
  template <typename Emit>
  Refusal split(const std::uint8_t *data, std::size_t size, Emit &&emit) const {
    return search(0, data, 0, size, emit);
  }

  // Whether there are any, and the size of the longest in bytes.
  std::size_t longest() const { return longest_; }
  // Whether one may take white space along.
  bool strips() const { return strips_; }

  // Returns the first place from `from` on, `to` at most, such that nothing of a token that
  // begins at or before `to` is behind it; NOWHERE if there is no such place.
  std::size_t clear_from(const std::uint8_t *data, std::size_t size, std::size_t from,
                         std::size_t to) const;
  static constexpr std::size_t NOWHERE = static_cast<std::size_t>(-1);

  static bool is_white_space_before(const std::uint8_t *data, std::size_t start,
                                    std::size_t at) {
    return skip_back(data, start, at) != at;
  }

private:
  // Finds the leftmost of some tokens, and of those that start there the longest.
  struct Finder {
    std::vector<AddedToken> tokens; // sorted by their bytes
    std::array<bool, 256> begins{}; // whether a token begins with this byte
    int only = -1;                  // the byte that all begin with, if there is only one

    explicit Finder(std::vector<AddedToken> of);

    // The token that starts at `at`, or nullptr.
    const AddedToken *match(const std::uint8_t *data, std::size_t at, std::size_t end) const;

    std::size_t next(const std::uint8_t *data, std::size_t at, std::size_t end) const {
      if (only >= 0) {
        const void *found = at < end ? std::memchr(data + at, only, end - at) : nullptr;
        return found == nullptr
                   ? end
                   : static_cast<std::size_t>(static_cast<const std::uint8_t *>(found) - data);
      }
      while (at < end && !begins[data[at]])
        ++at;
      return at;
    }
  };

  template <typename Emit>
  Refusal search(std::size_t phase, const std::uint8_t *data, std::size_t start,
                 std::size_t end, Emit &emit) const {
    if (phase == finders_.size()) {
      if (start < end)
        emit(Segment{start, end, nullptr});
      return {};
    }
    const Finder &finder = finders_[phase];
    std::size_t done = start;
    for (std::size_t at = finder.next(data, start, end); at < end;
         at = finder.next(data, at, end)) {
      const AddedToken *token = finder.match(data, at, end);
      if (token == nullptr) {
        ++at;
        continue;
      }
      std::size_t first = at;
      std::size_t last = at + token->content.size();
      at = last;
      if (token->as_text)
        continue;
      if (token->single_word &&
          (is_word_before(data, start, first) || is_word_at(data, last, end)))
        continue;
      if (token->refused) {
        // What comes first is refused first, whatever it is searched for behind.
        const Refusal refusal =
            done < first ? search(phase + 1, data, done, first, emit) : Refusal{};
        return refusal.token != nullptr ? refusal : Refusal{token, first};
      }
      if (token->lstrip) {
        // What the token before has taken stays with it.
        first = skip_back(data, start, first);
        first = first < done ? done : first;
      }
      if (token->rstrip)
        last = skip(data, last, end);
      if (first >= last)
        continue;
      if (done < first) {
        const Refusal refusal = search(phase + 1, data, done, first, emit);
        if (refusal.token != nullptr)
          return refusal;
      }
      emit(Segment{first, last, token});
      done = last;
    }
    return done < end ? search(phase + 1, data, done, end, emit) : Refusal{};
  }

  bool is_word_before(const std::uint8_t *data, std::size_t start, std::size_t at) const;
  bool is_word_at(const std::uint8_t *data, std::size_t at, std::size_t end) const;
  bool is_word(std::uint32_t code_point) const;
  static std::size_t skip_back(const std::uint8_t *data, std::size_t start, std::size_t at);
  static std::size_t skip(const std::uint8_t *data, std::size_t at, std::size_t end);

  std::vector<Finder> finders_; // those for text as it is, then those for normalized text
  Ranges words_;
  std::size_t longest_ = 0;
  bool strips_ = false;
};

} // namespace pretok
