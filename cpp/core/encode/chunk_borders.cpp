// The borders of chunks, by kind.
#include "core/encode/chunk_search.hpp"

#include "core/simd/kernels.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>

namespace pretok {

bool ChunkSearch::is_border(Borders &borders, Place place) {
  switch (borders.kind) {
  case BorderKind::TOKENS:
    return std::binary_search(text_.ends, text_.ends + text_.count, place) && is_border(place);
  case BorderKind::PLACES:
    return std::binary_search(borders.places, borders.places + borders.count, place) &&
           is_border(place);
  case BorderKind::SPACES:
  case BorderKind::LINES:
  case BorderKind::SENTENCES:
    return is_scanned_border(borders, place);
  case BorderKind::PRE_TOKENS: {
    if (place == size())
      return is_border(place);
    const std::vector<Place> &ends = pre_tokens(place);
    return std::binary_search(ends.begin(), ends.end(), place) && is_border(place);
  }
  case BorderKind::CHARACTERS:
    break;
  }
  return is_border(place);
}

ChunkSearch::Place ChunkSearch::before(Borders &borders, Place place) {
  switch (borders.kind) {
  case BorderKind::TOKENS: {
    auto at = std::lower_bound(text_.ends, text_.ends + text_.count, place) - text_.ends - 1;
    while (at >= 0 && !is_border(text_.ends[at]))
      --at;
    return at >= 0 ? text_.ends[at] : -1;
  }
  case BorderKind::PLACES: {
    const std::int64_t *const places = borders.places;
    auto at = std::lower_bound(places, places + borders.count, place) - places - 1;
    while (at >= 0 && !is_border(places[at]))
      --at;
    return at >= 0 ? places[at] : -1;
  }
  case BorderKind::SPACES:
  case BorderKind::LINES:
  case BorderKind::SENTENCES:
    return scan_before(borders, place);
  case BorderKind::PRE_TOKENS:
    while (place > 0) {
      const std::vector<Place> &ends = pre_tokens(place - 1);
      auto at = std::lower_bound(ends.begin(), ends.end(), place);
      while (at != ends.begin())
        if (is_border(*--at))
          return *at;
      place = piece_.start;
    }
    return -1;
  case BorderKind::CHARACTERS:
    break;
  }
  return before(place);
}

ChunkSearch::Place ChunkSearch::after(Borders &borders, Place place) {
  switch (borders.kind) {
  case BorderKind::TOKENS: {
    const std::int32_t *at = std::upper_bound(text_.ends, text_.ends + text_.count, place);
    while (at != text_.ends + text_.count && !is_border(*at))
      ++at;
    return at == text_.ends + text_.count ? size() : *at;
  }
  case BorderKind::PLACES: {
    const std::int64_t *const last = borders.places + borders.count;
    const std::int64_t *at = std::upper_bound(borders.places, last, place);
    while (at != last && !is_border(*at))
      ++at;
    return at == last ? size() : *at;
  }
  case BorderKind::SPACES:
  case BorderKind::LINES:
  case BorderKind::SENTENCES:
    return scan_after(borders, place);
  case BorderKind::PRE_TOKENS:
    while (place < size()) {
      const std::vector<Place> &ends = pre_tokens(place);
      auto at = std::upper_bound(ends.begin(), ends.end(), place);
      for (; at != ends.end(); ++at)
        if (is_border(*at))
          return *at;
      place = piece_.end;
      if (place < size() && is_border(place))
        return place; // a cut is the start of a pre-token
    }
    return size();
  case BorderKind::CHARACTERS:
    break;
  }
  return after(place);
}

bool ChunkSearch::is_scanned_border(const Borders &borders, Place place) const {
  if (place == size())
    return is_border(place);
  if (place == 0)
    return false;
  switch (borders.kind) {
  case BorderKind::LINES:
    return ends_line(place) && is_border(place);
  case BorderKind::SENTENCES:
    return (ends_line(place) || ends_sentence(borders.kinds, place)) && is_border(place);
  default:
    return text_.data[place] == ' ' && text_.data[place - 1] != ' ' && is_border(place);
  }
}

bool ChunkSearch::ends_line(Place place) const {
  const std::uint8_t last = text_.data[place - 1];
  return last == '\n' || (last == '\r' && text_.data[place] != '\n');
}

// Returns whether a sentence ends at a place after the first and before the last byte.
bool ChunkSearch::ends_sentence(const std::uint8_t *kinds, Place place) const {
  const std::uint8_t *const data = text_.data;
  if (is_tail(data[place]))
    return false;
  const auto kind_at = [&](Place at) -> std::uint8_t {
    const std::uint32_t point = decode_utf8(data + at, text_.size - at).code_point;
    return point < sentence::CODE_POINTS ? kinds[point] : 0;
  };
  // Sets `at` to the start of the character before it, and returns its kind.
  const auto step_back = [&](Place &at) {
    for (--at; at > 0 && is_tail(data[at]);)
      --at;
    return kind_at(at);
  };
  Place at = place;
  std::uint8_t before = step_back(at);
  int closers = 0;
  for (; before == sentence::CLOSER && closers < sentence::MAX_CLOSERS && at > 0; ++closers)
    before = step_back(at);
  if (before != sentence::STOP && before != sentence::WIDE_STOP)
    return false;
  const std::uint8_t after = kind_at(place);
  if (before == sentence::STOP)
    return after == sentence::SPACE;
  // In a row of stops, the last one ends the sentence. Closers belong to it.
  return after != sentence::STOP && after != sentence::WIDE_STOP &&
         (after != sentence::CLOSER || closers == sentence::MAX_CLOSERS);
}

ChunkSearch::Place ChunkSearch::scan_before(Borders &borders, Place place) const {
  Gap &gap = borders.gap_before;
  if (gap.low < place && place <= gap.high)
    return gap.low;
  const Place known = gap.high < place ? std::max<Place>(gap.high, 0) : 0;
  Place at = place - 1;
  for (;; --at) {
    while (at > known && !may_be_border(borders, text_.data + at))
      --at;
    if (at < 0 || is_scanned_border(borders, at))
      break;
    if (gap.low < at && at <= gap.high) {
      at = gap.low;
      break;
    }
  }
  gap = {at, place};
  return at;
}

ChunkSearch::Place ChunkSearch::scan_after(Borders &borders, Place place) const {
  Gap &gap = borders.gap_after;
  if (gap.low <= place && place < gap.high)
    return gap.high;
  Place at = place + 1;
  while (at < size() &&
         !(may_be_border(borders, text_.data + at) && is_scanned_border(borders, at)))
    ++at;
  gap = {place, at};
  return at;
}

// Returns the starts of the pre-tokens in the stretch around `place`. A stretch splits like the
// text around it.
const std::vector<ChunkSearch::Place> &ChunkSearch::pre_tokens(Place place) {
  if (piece_.start <= place && place < piece_.end)
    return pieces_;
  piece_ = stretch(place);
  pieces_.clear();
  const PreTokenizer &split = encoder_.pre_tokenizer();
  split.spans_by_stage(Utf8(text_.data + piece_.start,
                            static_cast<std::size_t>(piece_.end - piece_.start),
                            split.classes()),
                       kernels(), [&](std::size_t start, std::size_t, int) {
                         pieces_.push_back(piece_.start + static_cast<Place>(start));
                       });
  return pieces_;
}

} // namespace pretok
