#include "core/encode/chunk_search.hpp"

#include "core/base/ids.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pretok {
namespace {

// As in bpe/budgets/search.py.
constexpr std::int64_t MAX_STRETCH = 1024;

// Does the same as `gallop` in bpe/budgets/search.py.
template <typename Fits, typename Before, typename After>
std::pair<std::int64_t, std::int64_t> gallop(Fits fits, Before before, After after,
                                             std::int64_t good, std::int64_t bad,
                                             std::int64_t guess) {
  std::int64_t step = 16;
  const std::int64_t sign = good < bad ? 1 : -1;
  const std::int64_t first_good = good;
  const std::int64_t first_bad = bad;
  for (;;) {
    const std::int64_t low = std::min(good, bad);
    const std::int64_t high = std::max(good, bad);
    std::int64_t place = before(std::max(std::min(guess + 1, high), low + 1));
    if (place <= low)
      place = low >= 0 ? after(low) : 0;
    if (place >= high)
      return {good, bad};
    (fits(place) ? good : bad) = place;
    if (good == first_good)
      guess = place - sign * step;
    else if (bad == first_bad)
      guess = place + sign * step;
    else
      guess = (good + bad) / 2;
    step *= 2;
  }
}

// Returns the size of the longest token that merging its bytes does not make, or a larger size.
std::size_t longest_whole(const Vocabulary &vocabulary) {
  if (vocabulary.characters() != nullptr)
    return 0;
  const TokenTable &tokens = vocabulary.merge_table() != nullptr
                                 ? vocabulary.unreachable_tokens()
                                 : vocabulary.whole_tokens();
  return tokens.longest();
}

} // namespace

ChunkSearch::ChunkSearch(const ChunkText &text, const PairProofs &proofs,
                         const Encoder &encoder, const Vocabulary &vocabulary, Count count,
                         std::size_t room)
    : text_(text), proofs_(proofs), encoder_(encoder), vocabulary_(vocabulary),
      count_(std::move(count)), room_(room), longest_not_merged_(longest_whole(vocabulary)) {}

std::size_t ChunkSearch::add_borders(BorderKind kind, const std::int64_t *places,
                                     std::size_t count, const std::uint8_t *kinds) {
  Borders borders{kind, places, count, kinds};
  if (kind == BorderKind::SPACES)
    borders.may_touch[' '] = true;
  else
    borders.may_touch['\n'] = borders.may_touch['\r'] = true;
  for (std::uint32_t point = 0; kinds != nullptr && point < sentence::CODE_POINTS; ++point) {
    std::uint64_t next_kinds = 0; // of eight code points, of which most have no kind
    if (point % sizeof next_kinds == 0) {
      std::memcpy(&next_kinds, kinds + point, sizeof next_kinds);
      if (next_kinds == 0) {
        point += sizeof next_kinds - 1;
        continue;
      }
    }
    std::uint8_t bytes[4];
    if (kinds[point] != 0 && kinds[point] != sentence::SPACE)
      borders.may_touch[bytes[encode_utf8(point, bytes) - 1]] = true;
  }
  borders_.push_back(borders);
  return borders_.size() - 1;
}

// Searches from the last result on, in growing steps: most places are near the last one.
std::size_t ChunkSearch::ids_up_to(Place place) {
  const std::int32_t *const ends = text_.ends;
  std::size_t low = ids_before_; // the end of each id before `low` is at most `place`
  std::size_t high = low;        // the end of id `high`, if there is one, is after `place`
  for (std::size_t step = 16; high < text_.count && ends[high] <= place; step *= 2) {
    low = high + 1;
    high = std::min(high + step, text_.count);
  }
  if (high == ids_before_)
    for (std::size_t step = 16; low > 0 && ends[low - 1] > place; step *= 2) {
      high = low - 1;
      low -= std::min(step, low);
    }
  ids_before_ =
      static_cast<std::size_t>(std::upper_bound(ends + low, ends + high, place) - ends);
  return ids_before_;
}

bool ChunkSearch::is_border(Place place) const {
  if (text_.allowed != nullptr)
    return text_.allowed[place] != 0;
  return place == size() || !is_tail(text_.data[place]);
}

ChunkSearch::Place ChunkSearch::before(Place place) const {
  for (--place; place >= 0 && !is_border(place);)
    --place;
  return place;
}

ChunkSearch::Place ChunkSearch::after(Place place) const {
  for (++place; place < size() && !is_border(place);)
    ++place;
  return place;
}

Proof ChunkSearch::proven(Place place) const {
  if (place == 0 || place == size())
    return Proof::CUT;
  if (text_.blocked != nullptr && text_.blocked[place] != 0)
    return Proof::NONE;
  const std::uint8_t *const at = text_.data + place;
  const std::uint32_t before = at[-1];
  const std::uint32_t after = at[0];
  if ((before | after) < 0x80) {
    // A normalizer may join the character after the place with a mark that follows it.
    const bool may_change = !text_.is_normal && place + 1 < size() && at[1] >= 0x80;
    return may_change ? Proof::NONE : proofs_.between(before, after);
  }
  if (!text_.is_normal || !is_border(place))
    return Proof::NONE;
  const std::uint8_t *first = at - 1;
  while (first > text_.data && is_tail(*first))
    --first;
  const std::uint8_t *const limit = text_.data + text_.size;
  return proofs_.between(decode_utf8(first, static_cast<std::size_t>(at - first)).code_point,
                         decode_utf8(at, static_cast<std::size_t>(limit - at)).code_point);
}

ChunkSearch::Stretch ChunkSearch::stretch(Place place) {
  if (stretch_.start <= place && place < stretch_.end)
    return stretch_;
  Place start = place;
  while (start > 0 && !is_cut(start))
    --start;
  Place end = place + 1;
  while (end < size() && !is_cut(end))
    ++end;
  stretch_ = {start, end};
  return stretch_;
}

// Returns the maximal number of bytes of `ids` ids.
ChunkSearch::Place ChunkSearch::max_size(std::size_t ids) const {
  if (text_.longest == 0 || !text_.is_normal || ids > text_.size)
    return size();
  return static_cast<Place>(std::min(text_.size, ids * text_.longest));
}

std::optional<ChunkSearch::Part> ChunkSearch::longest(Place start, std::size_t index,
                                                      Place floor) {
  Borders &borders = borders_[index];
  Place head = start;
  std::size_t used = 0;
  if (text_.puts_prefix || !keeps_ids(ids_up_to(start), start)) {
    head = start < size() ? stretch(start).end : size();
    // The ids from `start` to `head` may be too many to count them.
    if (head - start > MAX_STRETCH &&
        ids_up_to(head) - ids_up_to(start) > 2 * room_ + MAX_STRETCH)
      return bisect(start, head, 0, borders, std::max(start, floor), start);
    used = count(start, head, start);
    if (used > room_)
      return within(start, head, 0, borders, std::max(start, floor), start);
  }
  if (head == size())
    return Part{head, used};
  const std::size_t first = ids_up_to(head);
  const std::size_t at = first + room_ - used;
  if (at >= text_.count)
    return Part{size(), used + text_.count - first};
  const Place place = at > first ? end(at - 1) : head;
  if (borders.kind == BorderKind::TOKENS && at > first) {
    const std::size_t known = last_known(first, at);
    if (known != 0 && end(known - 1) > floor)
      return Part{end(known - 1), used + known - first};
  }
  Stretch around{place, place};
  if (!is_cut(place) || end(at) <= place) {
    around = stretch(place);
    around.start = std::max(around.start, head);
  }
  for (;;) {
    Place low = around.start;
    const std::size_t ids = used + ids_up_to(low) - first;
    if (low < around.end && ids < room_) {
      const auto found = within(low, around.end, ids, borders, std::max(low, floor), start);
      if (found)
        return found;
    }
    if (low <= floor)
      return std::nullopt;
    if (ids <= room_ && is_border(borders, low))
      return Part{low, ids};
    low = before(borders, low);
    if (low <= floor)
      return std::nullopt;
    if (low < head)
      return within(start, head, 0, borders, std::max(start, floor), start);
    around = stretch(low);
    around.start = std::max(around.start, head);
  }
}

std::vector<ChunkSearch::Part> ChunkSearch::run(Place start, std::size_t limit) {
  std::vector<Part> parts;
  const bool uses_joints = borders_[0].kind == BorderKind::TOKENS && !text_.puts_prefix;
  std::size_t next = 0; // if not 0, the number of ids before `start`, where a cut keeps the ids
  while (start < size() && parts.size() < limit) {
    Part part{};
    std::size_t at = next;
    next = 0;
    if (uses_joints) {
      const bool is_known = at != 0;
      if (!is_known)
        at = ids_up_to(start);
      if (is_known || keeps_ids(at, start)) {
        next = following(at);
        if (next != 0)
          part = {end(next - 1), next - at};
      }
    }
    if (next == 0) {
      std::optional<Part> found;
      for (std::size_t kind = 0; !found && kind < borders_.size(); ++kind)
        found = longest(start, kind, start);
      if (!found)
        break;
      part = *found;
    }
    parts.push_back(part);
    start = part.end;
  }
  return parts;
}

bool ChunkSearch::keeps_ids(std::size_t at, Place place) const {
  const Proof known = proven(place);
  if (known == Proof::CUT)
    return true;
  return known == Proof::JOINT && at > 0 && end(at - 1) == place && splits(at);
}

bool ChunkSearch::splits(std::size_t at) const {
  if (longest_not_merged_ == 0)
    return true;
  const auto longest = static_cast<Place>(longest_not_merged_);
  const Place place = end(at - 1);
  for (std::size_t first = at - 1; first > 0 && !is_cut(end(first - 1));) {
    --first;
    const Place start = first != 0 ? end(first - 1) : 0;
    if (is_not_merged(start, place))
      return false;
    if (place - start > longest)
      break;
  }
  for (std::size_t last = at; last < text_.count && !is_cut(end(last));) {
    ++last;
    if (last == text_.count)
      break;
    if (is_not_merged(place, end(last)))
      return false;
    if (end(last) - place > longest)
      break;
  }
  return true;
}

// Returns whether these bytes are a token that merging them does not make.
bool ChunkSearch::is_not_merged(Place start, Place end) const {
  const auto width = static_cast<std::size_t>(end - start);
  if (width == 0 || width > longest_not_merged_)
    return false;
  const std::uint8_t *const bytes = text_.data + start;
  const std::uint8_t *const limit = text_.data + text_.size;
  if (vocabulary_.merge_table() != nullptr)
    return vocabulary_.unreachable_tokens().find(bytes, width, limit) != NO_ID;
  const std::uint32_t id = vocabulary_.whole_tokens().find(bytes, width, limit);
  if (id == NO_ID)
    return false;
  std::vector<std::uint32_t> ids(width);
  return vocabulary_.merge(bytes, width, ids.data()) != 1 || ids[0] != id;
}

std::size_t ChunkSearch::last_known(std::size_t first, std::size_t at) {
  std::size_t last = at;
  while (last > first && !is_border(end(last - 1)))
    --last;
  if (last == first)
    return 0;
  const Proof known = proven(end(last - 1));
  if (known == Proof::CUT && last == at && end(at) > end(at - 1))
    return at;
  if (known == Proof::NONE || (known == Proof::JOINT && !splits(last)))
    return 0;
  return ends_at_cut(at) ? last : 0;
}

bool ChunkSearch::ends_at_cut(std::size_t at) {
  if (stop_.first <= at && at <= stop_.last)
    return stop_.is_cut;
  stop_ = {at, at, false};
  for (; stop_.last < text_.count; ++stop_.last) {
    const Place place = end(stop_.last);
    const Proof known = proven(place);
    stop_.is_cut = known == Proof::CUT;
    if (stop_.is_cut || (known == Proof::NONE && is_border(place)) ||
        (known == Proof::JOINT && !splits(stop_.last + 1)))
      break;
  }
  return stop_.is_cut;
}

std::size_t ChunkSearch::following(std::size_t first) {
  const std::size_t at = first + room_;
  return first < at && at < text_.count ? last_known(first, at) : 0;
}

std::size_t ChunkSearch::count(Place low, Place place, Place start) const {
  return count_(static_cast<std::size_t>(low), static_cast<std::size_t>(place),
                low == start ? Encoder::Part::FIRST : Encoder::Part::LATER);
}

std::optional<ChunkSearch::Part> ChunkSearch::within(Place low, Place high, std::size_t before,
                                                     Borders &borders, Place floor,
                                                     Place start) {
  return high - low > MAX_STRETCH ? bisect(low, high, before, borders, floor, start)
                                  : last_fit(low, high, before, borders, floor, start);
}

std::optional<ChunkSearch::Part> ChunkSearch::last_fit(Place low, Place high,
                                                       std::size_t ids_before, Borders &borders,
                                                       Place floor, Place start) {
  for (Place place = before(borders, high); place > floor; place = before(borders, place)) {
    const std::size_t size = ids_before + count(low, place, start);
    if (size <= room_)
      return Part{place, size};
  }
  return std::nullopt;
}

std::optional<ChunkSearch::Part> ChunkSearch::bisect(Place low, Place high,
                                                     std::size_t ids_before, Borders &borders,
                                                     Place floor, Place start) {
  if (floor >= high)
    return std::nullopt;
  Part last{-1, 0}; // the longest part that fits so far
  const std::size_t room = room_ - ids_before;
  const Place limit = max_size(room);
  const auto fits = [&](Place place) {
    if (place - low > limit)
      return false;
    const std::size_t size = ids_before + count(low, place, start);
    if (size > room_)
      return false;
    last = {place, size};
    return true;
  };
  const std::size_t at = ids_up_to(low) + room;
  const Place guess = at > 0 && at <= text_.count ? end(at - 1) : high;
  const auto [place, bad] = gallop(
      fits, [&](Place from) { return before(borders, from); },
      [&](Place from) { return after(borders, from); }, floor, high, guess);
  // The end of the text has not been tested.
  if (bad == high && high == size() && fits(high))
    return last;
  if (place == floor)
    return std::nullopt;
  return last;
}

} // namespace pretok
