#include "core/encode/added.hpp"

#include "core/base/count_steps.hpp"
#include "core/unicode/nfc.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <array>

namespace pretok {
namespace {

constexpr std::uint32_t NO_CHARACTER = 0xFFFFFFFF;

// Returns the code point at `at`, or NO_CHARACTER at `end` or at invalid UTF-8.
Decoded character_at(const std::uint8_t *data, std::size_t at, std::size_t end) {
  count_step();
  if (at == end)
    return {NO_CHARACTER, 0};
  const Decoded decoded = decode_utf8(data + at, end - at);
  return decoded.width > 1 || data[at] < 0x80 ? decoded : Decoded{NO_CHARACTER, 1};
}

// Returns the code point that ends at `at`, or NO_CHARACTER at `start` or after invalid UTF-8.
Decoded character_before(const std::uint8_t *data, std::size_t start, std::size_t at) {
  return character_at(data, at == start ? at : last_start(data, start, at), at);
}

// Returns whether the code point has the property White_Space.
bool is_white_space(std::uint32_t code_point) {
  return (code_point >= 0x09 && code_point <= 0x0D) || code_point == 0x20 ||
         code_point == 0x85 || code_point == 0xA0 || code_point == 0x1680 ||
         (code_point >= 0x2000 && code_point <= 0x200A) || code_point == 0x2028 ||
         code_point == 0x2029 || code_point == 0x202F || code_point == 0x205F ||
         code_point == 0x3000;
}

std::string as_nfc(const std::string &text) {
  std::vector<std::uint8_t> normal;
  to_nfc(reinterpret_cast<const std::uint8_t *>(text.data()), text.size(), normal);
  return std::string(normal.begin(), normal.end());
}

} // namespace

AddedTokens::AddedTokens(const std::vector<AddedToken> &tokens, CodePointRanges words, bool nfc)
    : words_(std::make_shared<CodePointRanges>(std::move(words))) {
  add_finder(tokens, false, nfc);
  add_finder(tokens, true, nfc);
}

void AddedTokens::add_finder(const std::vector<AddedToken> &tokens, bool normalized, bool nfc) {
  struct Pattern {
    std::string bytes;
    const AddedToken *token;
  };
  std::vector<Pattern> patterns;
  for (const AddedToken &token : tokens)
    if (token.normalized == normalized && !token.content.empty())
      patterns.push_back({normalized && nfc ? as_nfc(token.content) : token.content, &token});
  if (patterns.empty())
    return;
  // The matcher needs patterns that are sorted by their unsigned bytes. std::string compares
  // bytes as unsigned numbers. Of equal patterns, the first special token counts, or else the
  // first token.
  std::sort(patterns.begin(), patterns.end(), [](const Pattern &a, const Pattern &b) {
    if (const int order = a.bytes.compare(b.bytes))
      return order < 0;
    return a.token->special != b.token->special ? a.token->special : a.token < b.token;
  });
  patterns.erase(
      std::unique(patterns.begin(), patterns.end(),
                  [](const Pattern &a, const Pattern &b) { return a.bytes == b.bytes; }),
      patterns.end());
  std::vector<AddedToken> unique_tokens;
  std::vector<std::string_view> bytes;
  for (const Pattern &pattern : patterns) {
    unique_tokens.push_back(*pattern.token);
    bytes.push_back(pattern.bytes);
  }
  const auto finder = std::make_shared<Finder>(std::move(unique_tokens), bytes);
  finder->normalized = normalized;
  for (const AddedToken &token : finder->tokens) {
    finder->all_special = finder->all_special && token.special;
    finder->strips = finder->strips || token.lstrip || token.rstrip;
  }
  add_shared(finder);
}

void AddedTokens::add_shared(const std::shared_ptr<const Finder> &finder) {
  finders_.push_back(finder);
  longest_ = std::max(longest_, finder->matcher.longest());
  strips_ = strips_ || finder->strips;
}

AddedTokens AddedTokens::treating(Treatment treatment) const {
  AddedTokens result;
  result.words_ = words_;
  result.treatment_ = treatment;
  // A phase is the search for normalized tokens, or the search for all other tokens. With TEXT,
  // a special token gives no segment. But within its bytes, its phase finds no other token (see
  // search_from). So special tokens are still searched. If all tokens are special, a search
  // would find nothing, so leave it out.
  const bool all_special = std::all_of(finders_.begin(), finders_.end(),
                                       [](const auto &finder) { return finder->all_special; });
  if (treatment != Treatment::TEXT || !all_special)
    for (const auto &finder : finders_)
      result.add_shared(finder);
  return result;
}

AddedTokens AddedTokens::of_phase(bool normalized) const {
  AddedTokens result;
  if (ranges_ != nullptr) {
    const unsigned phase = normalized ? 1 : 0;
    if (first_phase_ <= phase && phase < end_phase_) {
      result.ranges_ = ranges_;
      result.first_phase_ = phase;
      result.end_phase_ = phase + 1;
    }
    return result;
  }
  result.words_ = words_;
  result.treatment_ = treatment_;
  for (const auto &finder : finders_)
    if (finder->normalized == normalized)
      result.add_shared(finder);
  return result;
}

// Splits data[start..end) at the matches of one phase. `rest` splits the text between them: it
// takes its start and its end.
class AddedTokens::Pass {
public:
  using Rest = FunctionRef<Refusal(std::size_t, std::size_t)>;

  Pass(const std::uint8_t *data, std::size_t start, std::size_t end, const Rest &rest,
       const OnSegment &emit)
      : data_(data), start_(start), end_(end), rest_(rest), emit_(emit), done_(start) {}

  // Visits the matches in data[from..to). Returns false after a refused token.
  bool find(const AddedTokens &added, const Finder &finder, std::size_t from, std::size_t to) {
    return finder.matcher.each_match(
        data_, from, to, [&](std::size_t pattern, std::size_t first, std::size_t last) {
          return visit(added, finder.tokens[pattern], first, last);
        });
  }

  // Splits the text after the last match.
  Refusal finish() {
    return refusal_.token != nullptr || done_ >= end_ ? refusal_ : rest_(done_, end_);
  }

private:
  bool visit(const AddedTokens &added, const AddedToken &token, std::size_t first,
             std::size_t last) {
    if (token.special && added.treatment_ == Treatment::TEXT)
      return true; // As in Hugging Face tokenizers, this phase finds no other token in the
                   // bytes of this match. Later phases search these bytes as text.
    if (token.single_word &&
        (added.is_word_before(data_, start_, first) || added.is_word_at(data_, last, end_)))
      return true;
    const bool is_refused = token.special && added.treatment_ == Treatment::RAISE;
    if (token.lstrip && !is_refused)
      first = skip_back(data_, start_, done_, first);
    if (token.rstrip && !is_refused)
      last = skip(data_, last, end_, spaces_);
    // By `rstrip`, the previous token may include white space up to `done_`. This whole match
    // may lie in that white space:
    //   - With `lstrip`, skip_back has set `first` to `done_`, and the match is dropped.
    //   - Without `lstrip`, `first` does not move, and the match is emitted. Its segment
    //     overlaps the segment of the previous token, as in Hugging Face tokenizers. `done_`
    //     may move back to the end of this match. The white space after it is then text again.
    if (first >= last)
      return true;
    // `search` must return the refused token that comes first in the text. A later phase may
    // find one in the text before this match. So split that text before this match is refused
    // or emitted.
    if (done_ < first)
      refusal_ = rest_(done_, first);
    if (refusal_.token == nullptr && is_refused)
      refusal_ = {&token, first};
    if (refusal_.token != nullptr)
      return false;
    emit_(Segment{first, last, &token});
    done_ = last;
    return true;
  }

  const std::uint8_t *data_;
  std::size_t start_;
  std::size_t end_;
  const Rest &rest_;
  const OnSegment &emit_;
  std::size_t done_; // the end of the last segment
  Spaces spaces_;    // the last run of white space that `skip` read, so that none is read twice
  Refusal refusal_;
};

Refusal AddedTokens::search_from(std::size_t at, std::size_t phase, const std::uint8_t *data,
                                 std::size_t start, std::size_t end,
                                 const OnSegment &emit) const {
  const auto rest = [&](std::size_t from, std::size_t to) {
    return search(phase + 1, data, from, to, emit);
  };
  const Pass::Rest rest_ref(rest);
  Pass pass(data, start, end, rest_ref, emit);
  pass.find(*this, *finders_[phase], at, end);
  return pass.finish();
}

// Finds the next byte at which a token may begin. Looks once at a row of ranges that search
// with one Finder, or not at all: ranges are often short.
class AddedTokens::FirstBytes {
public:
  FirstBytes(const std::vector<TextRange> &ranges, bool normalized, const std::uint8_t *data,
             std::size_t end)
      : ranges_(ranges), normalized_(normalized), data_(data), end_(end) {}

  // Returns the next byte from `from` on, which is in `range`. The byte may be in a later
  // range.
  std::size_t next(const Finder &finder, std::vector<TextRange>::const_iterator range,
                   std::size_t from) {
    if (finder_ != &finder || from >= row_end_) {
      finder_ = &finder;
      for (; range != ranges_.end() && row_end_ < end_; ++range) {
        const Finder *const other = range->tokens->finder_of(normalized_);
        if (other != nullptr && other != &finder)
          break;
        row_end_ = std::min(range->end, end_);
      }
      at_ = from;
    }
    if (at_ <= from)
      at_ = finder.matcher.next(data_, from, row_end_);
    return at_;
  }

private:
  const std::vector<TextRange> &ranges_;
  bool normalized_;
  const std::uint8_t *data_;
  std::size_t end_;
  const Finder *finder_ = nullptr;
  std::size_t row_end_ = 0; // of the ranges that are searched with finder_, or not at all
  std::size_t at_ = 0;
};

Refusal AddedTokens::search_ranges(const std::uint8_t *data, std::size_t size,
                                   const OnSegment &emit) const {
  std::size_t start = 0;
  if (first_phase_ == 0)
    for (const TextRange &range : *ranges_) {
      if (range.given.empty())
        continue;
      const std::size_t end = std::min(range.end, size);
      const Refusal refusal = search_phase_of_ranges(0, data, start, end, emit);
      if (refusal.token != nullptr)
        return refusal;
      start = end;
      for (const AddedToken &token : range.given)
        emit(Segment{start, start, &token});
    }
  return search_phase_of_ranges(first_phase_, data, start, size, emit);
}

Refusal AddedTokens::search_phase_of_ranges(unsigned phase, const std::uint8_t *data,
                                            std::size_t start, std::size_t end,
                                            const OnSegment &emit) const {
  if (start >= end)
    return {};
  if (phase >= end_phase_) {
    emit(Segment{start, end, nullptr});
    return {};
  }
  const auto rest = [&](std::size_t from, std::size_t to) {
    return search_phase_of_ranges(phase + 1, data, from, to, emit);
  };
  const Pass::Rest rest_ref(rest);
  Pass pass(data, start, end, rest_ref, emit);
  auto range =
      std::upper_bound(ranges_->begin(), ranges_->end(), start,
                       [](std::size_t at, const TextRange &each) { return at < each.end; });
  FirstBytes first_bytes(*ranges_, phase == 1, data, end);
  for (std::size_t from = start; range != ranges_->end() && from < end; ++range) {
    const std::size_t to = std::min(range->end, end);
    const Finder *const finder = range->tokens->finder_of(phase == 1);
    if (finder != nullptr) {
      from = first_bytes.next(*finder, range, from);
      if (from >= end)
        break; // no token begins in the other ranges
      if (from < to && !pass.find(*range->tokens, *finder, from, to))
        break;
    }
    from = to;
  }
  return pass.finish();
}

AddedTokens AddedTokens::of_ranges(TextRanges ranges) {
  AddedTokens result;
  std::array<bool, 2> is_searched{}; // by phase
  if (ranges != nullptr)
    for (const TextRange &range : *ranges) {
      is_searched[0] = is_searched[0] || !range.given.empty();
      for (const auto &finder : range.tokens->finders_)
        is_searched[finder->normalized ? 1 : 0] = true;
    }
  if (is_searched[0] || is_searched[1])
    result.ranges_ = std::move(ranges);
  result.first_phase_ = is_searched[0] ? 0 : 1;
  result.end_phase_ = is_searched[1] ? 2 : 1;
  return result;
}

std::vector<std::size_t> AddedTokens::ends() const {
  std::vector<std::size_t> result;
  if (ranges_ != nullptr)
    for (const TextRange &range : *ranges_)
      result.push_back(range.end);
  return result;
}

AddedTokens AddedTokens::of_part(std::size_t start, std::size_t end) const {
  if (ranges_ == nullptr)
    return *this;
  const auto first =
      std::partition_point(ranges_->begin(), ranges_->end(),
                           [&](const TextRange &each) { return each.end <= start; });
  const auto last = std::partition_point(first, ranges_->end(),
                                         [&](const TextRange &each) { return each.end < end; });
  return with_ranges({first, last == ranges_->end() ? last : last + 1});
}

AddedTokens AddedTokens::moved(const std::vector<std::size_t> &ends) const {
  if (ranges_ == nullptr)
    return *this;
  std::vector<TextRange> ranges = *ranges_;
  for (std::size_t i = 0; i < std::min(ends.size(), ranges.size()); ++i)
    ranges[i].end = ends[i];
  return with_ranges(std::move(ranges));
}

// Returns a search for ranges whose tokens belong to the owner of ranges_.
AddedTokens AddedTokens::with_ranges(std::vector<TextRange> ranges) const {
  struct Owner {
    std::vector<TextRange> ranges;
    TextRanges owner;
  };
  const auto owner = std::make_shared<Owner>(Owner{std::move(ranges), ranges_});
  AddedTokens result = *this;
  result.ranges_ = TextRanges(owner, &owner->ranges);
  return result;
}

// Returns the positions that are clear for every finder.
ClearPlaces AddedTokens::clear_places(const std::uint8_t *data, std::size_t from,
                                      std::size_t to) const {
  ClearPlaces clear{ranges_ == nullptr ? from : to, to};
  for (const auto &finder : finders_) {
    const ClearPlaces places = finder->matcher.clear_places(data, from, to);
    clear = {std::max(clear.start, places.start), std::min(clear.end, places.end)};
  }
  Spaces spaces;
  if (strips_)
    clear.start = skip(data, clear.start, to, spaces);
  return clear;
}

bool AddedTokens::is_white(const std::string &content) {
  const auto *const data = reinterpret_cast<const std::uint8_t *>(content.data());
  for (std::size_t at = 0; at < content.size();) {
    const Decoded next = character_at(data, at, content.size());
    if (!is_white_space(next.code_point) && next.code_point != 0x2581)
      return false;
    at += next.width;
  }
  return true;
}

bool AddedTokens::is_white_space_before(const std::uint8_t *data, std::size_t start,
                                        std::size_t at) {
  return is_white_space(character_before(data, start, at).code_point);
}

bool AddedTokens::is_word_before(const std::uint8_t *data, std::size_t start,
                                 std::size_t at) const {
  return is_word(character_before(data, start, at).code_point);
}

bool AddedTokens::is_word_at(const std::uint8_t *data, std::size_t at, std::size_t end) const {
  return is_word(character_at(data, at, end).code_point);
}

bool AddedTokens::is_word(std::uint32_t code_point) const {
  const auto next = std::upper_bound(words_->begin(), words_->end(),
                                     std::make_pair(code_point, NO_CHARACTER));
  return next != words_->begin() && code_point <= std::prev(next)->second;
}

std::size_t AddedTokens::skip_back(const std::uint8_t *data, std::size_t start,
                                   std::size_t done, std::size_t at) {
  while (at > done) {
    const Decoded before = character_before(data, start, at);
    if (!is_white_space(before.code_point))
      return at;
    at -= before.width;
  }
  return done;
}

std::size_t AddedTokens::skip(const std::uint8_t *data, std::size_t at, std::size_t end,
                              Spaces &spaces) {
  // If `at` is in the last run, the white space at `at` ends where this run ends. But a token
  // may end within a character. Then no white space begins at `at`.
  if (at >= spaces.start && at < spaces.end)
    return is_tail(data[at]) ? at : spaces.end;
  spaces = {at, at};
  for (Decoded next = character_at(data, at, end); is_white_space(next.code_point);
       next = character_at(data, spaces.end, end))
    spaces.end += next.width;
  return spaces.end;
}

} // namespace pretok
