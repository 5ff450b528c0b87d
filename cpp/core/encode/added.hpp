// Finds added tokens in a text before it is split. bpe/encoding/added_tokens.py does the same
// in Python.
#pragma once

#include "core/base/function_ref.hpp"
#include "core/base/noinline.hpp"
#include "core/encode/token_matcher.hpp"
#include "core/unicode/word_characters.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pretok {

// Says how to treat special tokens that a text contains. RAISE stops at the first one and
// returns a Refusal, TEXT treats them as text, and ALLOW treats them as tokens.
enum class Treatment { RAISE, TEXT, ALLOW };

struct AddedToken {
  std::string content; // empty only for a token of TextRange::given
  std::uint32_t id = 0;
  bool normalized = false;  // searched in the normalized text, after tokens without this flag
  bool lstrip = false;      // a match includes the white space before it
  bool rstrip = false;      // a match includes the white space after it
  bool single_word = false; // matches only where no word character is next to it
  bool special = false;     // the Treatment decides; tokens that are not special always match
};

// A part of a text, from byte `start` to byte `end`, excluded: an added token, or plain text
// (nullptr).
struct Segment {
  std::size_t start;
  std::size_t end;
  const AddedToken *token;
};

// The end of the span of a token that has no bytes in the text (AddedTokens::TextRange::given).
inline constexpr std::int64_t GIVEN_TOKEN = -1;

// The first special token that a text must not contain, and its byte offset in the text. If
// there is no such token, `token` is nullptr.
struct Refusal {
  const AddedToken *token = nullptr;
  std::size_t position = 0;
};

// Finds added tokens. Copies share the search tables.
class AddedTokens {
public:
  using OnSegment = FunctionRef<void(const Segment &)>;

  // `words` are the word characters; only `single_word` tokens use them. If `nfc`, the contents
  // of normalized tokens are converted to NFC. If several tokens with an equal flag
  // `normalized` then have equal bytes, only one of them matches: the first special token, or
  // the first token if none of them is special. The treatment is ALLOW; treating() returns a
  // copy with another treatment. Throws std::length_error if all tokens with an equal flag
  // `normalized` together have TokenMatcher::MAX_BYTES bytes or more.
  AddedTokens(const std::vector<AddedToken> &tokens, CodePointRanges words, bool nfc = false);

  // Returns a copy with another treatment of special tokens.
  AddedTokens treating(Treatment treatment) const;
  // Return the tokens that are searched in the raw text, or in the normalized text.
  AddedTokens exact() const { return of_phase(false); }
  AddedTokens normalized() const { return of_phase(true); }

  struct TextRange;
  using TextRanges = std::shared_ptr<const std::vector<TextRange>>;
  // Returns a search for one text, of which each range has its own tokens. The ends of the
  // ranges ascend, and the last range ends at the end of the text. The treatment of special
  // tokens is that of each range, and treating() must not be called.
  static AddedTokens of_ranges(TextRanges ranges);
  // Returns the ends of the ranges; it is empty if there are no ranges, or no tokens.
  std::vector<std::size_t> ends() const;
  // Returns a search for only the ranges that overlap a part of the text. Offsets still count
  // from the start of the whole text.
  AddedTokens of_part(std::size_t start, std::size_t end) const;
  // Returns a search with other ends, one per range: for a text that was changed.
  AddedTokens moved(const std::vector<std::size_t> &ends) const;

  // Calls emit(segment) for each Segment of a text, in order. Segments of plain text are not
  // empty. Stops at a refused token, and returns it. Takes linear time, whatever the tokens
  // are.
  Refusal split(const std::uint8_t *data, std::size_t size, const OnSegment &emit) const {
    return ranges_ == nullptr ? search(0, data, 0, size, emit)
                              : search_ranges(data, size, emit);
  }

  // Returns the size of the longest token in bytes, or 0 if there are no tokens.
  std::size_t longest() const { return longest_; }
  // Returns whether any token includes white space around it.
  bool strips() const { return strips_; }

  // Returns the last range of clear positions within [from, to]: no token contains or touches
  // them, except that a token may end at the first one. If strips(), white space after the last
  // token counts as part of the token, since `rstrip` may add it. White space before a token
  // does not count, although `lstrip` may add it, so a caller must not cut right after white
  // space (is_white_space_before). The result is right whatever text comes after `to`, and
  // depends only on data[from - longest()..to). Takes linear time. A search by ranges finds no
  // clear position.
  ClearPlaces clear_places(const std::uint8_t *data, std::size_t from, std::size_t to) const;

  // Returns whether a content consists of white space alone; "▁" stands for a space.
  static bool is_white(const std::string &content);
  // Returns whether the character that ends at `at` is white space. Reads no byte before
  // `start`; returns false if `at` is `start`.
  static bool is_white_space_before(const std::uint8_t *data, std::size_t start,
                                    std::size_t at);

private:
  // A phase is the search for the tokens without the flag `normalized`, or for the tokens with
  // it. A Finder has the tokens of one phase, in the order of the patterns of `matcher`.
  struct Finder {
    Finder(std::vector<AddedToken> sorted_tokens, const std::vector<std::string_view> &patterns)
        : tokens(std::move(sorted_tokens)), matcher(patterns) {}

    std::vector<AddedToken> tokens;
    TokenMatcher matcher;
    bool normalized = false;
    bool all_special = true;
    bool strips = false;
  };

  // A run of white space from `start` to `end`.
  struct Spaces {
    std::size_t start = 0;
    std::size_t end = 0;
  };

  // Splits data[start..end) by the tokens of finders_[phase] and of all later phases.
  Refusal search(std::size_t phase, const std::uint8_t *data, std::size_t start,
                 std::size_t end, const OnSegment &emit) const {
    // Only this loop is inlined: in most texts no byte can begin a token, so the rest never
    // runs.
    for (; phase < finders_.size(); ++phase) {
      const std::size_t at = finders_[phase]->matcher.next(data, start, end);
      if (at < end)
        return search_from(at, phase, data, start, end, emit);
    }
    if (start < end)
      emit(Segment{start, end, nullptr});
    return {};
  }

  // Like `search`. The caller knows that no token of this phase begins before `at`.
  PRETOK_NOINLINE Refusal search_from(std::size_t at, std::size_t phase,
                                      const std::uint8_t *data, std::size_t start,
                                      std::size_t end, const OnSegment &emit) const;

  // Finds the segments at the matches of one phase.
  class Pass;
  // Finds the bytes at which a token of ranges_ may begin.
  class FirstBytes;

  // Like `split`, for ranges_.
  PRETOK_NOINLINE Refusal search_ranges(const std::uint8_t *data, std::size_t size,
                                        const OnSegment &emit) const;
  // Like `search`, for ranges_. The phase is 0 for exact tokens, and 1 for normalized tokens.
  Refusal search_phase_of_ranges(unsigned phase, const std::uint8_t *data, std::size_t start,
                                 std::size_t end, const OnSegment &emit) const;
  // Returns the tokens of a phase, or nullptr.
  const Finder *finder_of(bool normalized) const {
    for (const auto &finder : finders_)
      if (finder->normalized == normalized)
        return finder.get();
    return nullptr;
  }

  AddedTokens() = default;
  AddedTokens of_phase(bool normalized) const;
  AddedTokens with_ranges(std::vector<TextRange> ranges) const;
  void add_finder(const std::vector<AddedToken> &tokens, bool normalized, bool nfc);
  void add_shared(const std::shared_ptr<const Finder> &finder);

  bool is_word_before(const std::uint8_t *data, std::size_t start, std::size_t at) const;
  bool is_word_at(const std::uint8_t *data, std::size_t at, std::size_t end) const;
  bool is_word(std::uint32_t code_point) const;
  // Returns the start of the white space before `at`, or `done` if the white space begins
  // before it. `done` is the end of the previous token. Reads no byte before `start`.
  static std::size_t skip_back(const std::uint8_t *data, std::size_t start, std::size_t done,
                               std::size_t at);
  // Returns the end of the white space at `at`, or `at` if there is none. `spaces` caches the
  // last run, so that many tokens within one run cost linear time.
  static std::size_t skip(const std::uint8_t *data, std::size_t at, std::size_t end,
                          Spaces &spaces);

  // The finder for raw text, then the finder for normalized text.
  std::vector<std::shared_ptr<const Finder>> finders_;
  std::shared_ptr<const CodePointRanges> words_;
  Treatment treatment_ = Treatment::ALLOW;
  std::size_t longest_ = 0;
  bool strips_ = false;
  // If not nullptr, finders_ is empty, and only the phases from first_phase_ to end_phase_,
  // excluded, are searched. A phase without tokens is left out.
  TextRanges ranges_;
  unsigned first_phase_ = 0;
  unsigned end_phase_ = 2;
};

// A range of a text, from the end of the range before it to `end`, in bytes. `tokens`, which
// must outlive the search, are searched in the range, and a match never crosses an end of it.
// But the flags of a token look into the next range. The tokens `given` come after the text of
// the range, without bytes of their own. Nothing crosses them: no pre-token, and no white space
// of a token.
struct AddedTokens::TextRange {
  std::size_t end = 0;
  const AddedTokens *tokens = nullptr;
  std::vector<AddedToken> given;
};

} // namespace pretok
