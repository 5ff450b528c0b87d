// The borders of chunks, by kind.
#include "core/encode/chunk_search.hpp"

#include "core/simd/kernels.hpp"

#include <algorithm>

namespace pretok {

bool ChunkSearch::is_border(const Borders &borders, Place place) {
  switch (borders.kind) {
  case BorderKind::TOKENS:
    return std::binary_search(text_.ends, text_.ends + text_.count, place) && is_border(place);
  case BorderKind::PLACES:
    return std::binary_search(borders.places, borders.places + borders.count, place) &&
           is_border(place);
  case BorderKind::SPACES:
    return is_space_border(place);
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

ChunkSearch::Place ChunkSearch::before(const Borders &borders, Place place) {
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
    return before_spaces(place);
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

ChunkSearch::Place ChunkSearch::after(const Borders &borders, Place place) {
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
    return after_spaces(place);
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

bool ChunkSearch::is_space_border(Place place) const {
  return (place == size() ||
          (place > 0 && text_.data[place] == ' ' && text_.data[place - 1] != ' ')) &&
         is_border(place);
}

ChunkSearch::Place ChunkSearch::before_spaces(Place place) {
  Gap &gap = gap_before_;
  if (gap.low < place && place <= gap.high)
    return gap.low;
  Place at = place - 1;
  while (at >= 0 && !is_space_border(at)) {
    if (gap.low < at && at <= gap.high) {
      at = gap.low;
      break;
    }
    --at;
  }
  gap = {at, place};
  return at;
}

ChunkSearch::Place ChunkSearch::after_spaces(Place place) {
  Gap &gap = gap_after_;
  if (gap.low <= place && place < gap.high)
    return gap.high;
  Place at = place + 1;
  while (at < size() && !is_space_border(at))
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
