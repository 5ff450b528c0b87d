#include "core/session/session.hpp"

#include "core/unicode/code_point_counts.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

namespace pretok {
namespace {

// Given ids join the piece of given ids before them, if it has fewer ids than this.
constexpr std::size_t MAX_JOINED = 256;

// Returns the number of equal bytes at the start of both texts.
std::size_t common_start(const std::uint8_t *a, const std::uint8_t *b, std::size_t size) {
  constexpr std::size_t BLOCK = 4096;
  std::size_t at = 0;
  while (size - at >= BLOCK && std::memcmp(a + at, b + at, BLOCK) == 0)
    at += BLOCK;
  return static_cast<std::size_t>(std::mismatch(a + at, a + size, b + at).first - a);
}

// Returns the number of equal bytes before the ends `a` and `b`, at most `size`.
std::size_t common_end(const std::uint8_t *a, const std::uint8_t *b, std::size_t size) {
  constexpr std::size_t BLOCK = 4096;
  std::size_t count = 0;
  while (size - count >= BLOCK && std::memcmp(a - count - BLOCK, b - count - BLOCK, BLOCK) == 0)
    count += BLOCK;
  while (count < size && *(a - count - 1) == *(b - count - 1))
    ++count;
  return count;
}

// The number of ids of a plan that need no allocation.
constexpr std::size_t NEAR_IDS = 1024;

// Makes room for `size` elements. Repeated calls take linear time together.
template <typename Value> void make_room(std::vector<Value> &values, std::size_t size) {
  if (size > values.capacity())
    values.reserve(std::max(size, values.capacity() + values.capacity() / 2));
}

// Replaces `values` from `start` to `end` by new values. The vector must have room for them.
template <typename Value, typename Iterator>
void splice(std::vector<Value> &values, std::size_t start, std::size_t end, Iterator first,
            std::size_t count) {
  const auto at = [&](std::size_t index) {
    return values.begin() + static_cast<std::ptrdiff_t>(index);
  };
  const std::size_t common = std::min(count, end - start);
  const Iterator middle = std::next(first, static_cast<std::ptrdiff_t>(common));
  std::copy(first, middle, at(start));
  if (common < count)
    values.insert(at(start + common), middle,
                  std::next(first, static_cast<std::ptrdiff_t>(count)));
  else
    values.erase(at(start + common), at(end));
}

} // namespace

std::size_t Session::piece_size = 2048;

Patch Session::patch_of(const Plan &plan) const {
  const std::size_t tail_size = ids_.size() - plan.right.id;
  const std::size_t new_size = plan.left.id + plan.ids.size() + tail_size;
  const auto new_id = [&](std::size_t index) {
    const std::size_t at = index - plan.left.id;
    return at < plan.ids.size() ? plan.ids.data()[at] : ids_[index + ids_.size() - new_size];
  };
  const std::size_t shorter = std::min(new_size, ids_.size());
  // The ids after the plan may go on like the old ones. They do if their number stays.
  const std::size_t end = new_size == ids_.size() ? plan.left.id + plan.ids.size() : shorter;
  std::size_t keep = plan.left.id;
  while (keep < end && new_id(keep) == ids_[keep])
    ++keep;
  if (keep == end)
    keep = shorter;
  std::size_t tail = std::min(tail_size, shorter - keep);
  while (tail < shorter - keep && new_id(new_size - tail - 1) == ids_[ids_.size() - tail - 1])
    ++tail;
  return {keep, tail, new_size - tail - keep, nullptr};
}

void Session::carry_out(const Edit &edit, Plan &&plan, Patch &patch) {
  const Place &left = plan.left;
  const Place &right = plan.right;
  const Patch made = patch_of(plan);
  const bool takes_all_ids = right.id - left.id == ids_.size() && plan.ids.size() > NEAR_IDS;
  // All allocations come first, since a failure must leave the Session as it was.
  text_.reserve(text_.size() - (edit.end - edit.start) + edit.size);
  if (!takes_all_ids)
    ids_.reserve(ids_.size() - (right.id - left.id) + plan.ids.size());
  make_room(pieces_, pieces_.size() - (right.piece - left.piece) + plan.pieces.size());
  make_room(ranges_, plan.ranges.first + plan.ranges.ranges.size());
  for (std::size_t i = left.piece; i < right.piece; ++i)
    characters_ -= pieces_[i].characters;
  for (const Piece &piece : plan.pieces)
    characters_ += piece.characters;
  text_.splice(edit.start, edit.end, edit.text, edit.size);
  if (takes_all_ids) {
    plan.ids.fit();
    const std::size_t count = plan.ids.size();
    ids_.adopt(plan.ids.release(), count);
  } else {
    ids_.splice(left.id, right.id, plan.ids.data(), plan.ids.size());
  }
  std::size_t first = left.piece;
  // Appended text makes small pieces. Join them, but for the last one, which ends the text.
  if (first != 0 && plan.pieces.size() > 1) {
    const Piece &before = pieces_[first - 1];
    Piece &after = plan.pieces.front();
    if (before.given == nullptr && after.given == nullptr &&
        before.size + after.size <= piece_size / 2) {
      after.size += before.size;
      after.characters += before.characters;
      after.ids += before.ids;
      --first;
    }
  }
  splice(pieces_, first, right.piece, std::make_move_iterator(plan.pieces.begin()),
         plan.pieces.size());
  NewRanges &ranges = plan.ranges;
  splice(ranges_, ranges.first, ranges_.size(), std::make_move_iterator(ranges.ranges.begin()),
         ranges.ranges.size());
  patch = made;
  patch.ids = ids_.data() + made.keep;
  if (drops_text_)
    drop_text();
}

Refusal Session::replace(std::size_t start, std::size_t end, const std::uint8_t *text,
                         std::size_t size, const Policy &policy, PreTokenCache &cache,
                         Patch &patch) {
  const Edit edit{start, end, text, size};
  std::array<std::uint32_t, NEAR_IDS> near;
  Plan made;
  made.ids = IdBuffer(near.data(), near.size());
  const Refusal refusal = plan(edit, policy, cache, made);
  if (refusal.token == nullptr)
    carry_out(edit, std::move(made), patch);
  return refusal;
}

Refusal Session::update(const std::uint8_t *text, std::size_t size, const Policy &policy,
                        PreTokenCache &cache, Patch &patch) {
  const std::uint8_t *const old = text_.data();
  const std::size_t shorter = std::min(size, text_.size());
  const std::size_t start = common_start(old, text, shorter);
  const std::size_t tail = common_end(old + text_.size(), text + size, shorter - start);
  return replace(start, text_.size() - tail, text + start, size - tail - start, policy, cache,
                 patch);
}

Refusal Session::peek(const std::uint8_t *text, std::size_t size, const Policy &policy,
                      PreTokenCache &cache, IdBuffer &ids, Patch &patch) const {
  const Edit edit{text_.size(), text_.size(), text, size};
  Plan made;
  const Refusal refusal = plan(edit, policy, cache, made);
  if (refusal.token != nullptr)
    return refusal;
  patch = patch_of(made);
  ids = std::move(made.ids);
  patch.ids = ids.data() + (patch.keep - made.left.id);
  return {};
}

void Session::extend(const std::uint32_t *ids, const std::uint32_t *sizes, std::size_t count,
                     const std::uint8_t *text, const Policy &policy, Patch &patch) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < count; ++i)
    size += sizes[i];
  const Edit edit{text_.size(), text_.size(), text, size};
  Plan made;
  made.left = made.right = {pieces_.size(), text_.size(), ids_.size()};
  auto given = std::make_shared<std::vector<std::uint32_t>>();
  if (!pieces_.empty() && pieces_.back().given != nullptr && count != 0 &&
      pieces_.back().ids < MAX_JOINED) {
    go_left(made.left);
    const Given &before = pieces_.back().given;
    given->assign(before->begin(), before->end());
  }
  made.ranges = changed_ranges(edit, policy, made);
  given->insert(given->end(), sizes, sizes + count);
  const std::size_t old_ids = ids_.size() - made.left.id;
  std::uint32_t *const room = made.ids.room(old_ids + count);
  std::copy(ids_.data() + made.left.id, ids_.data() + ids_.size(), room);
  std::copy(ids, ids + count, room + old_ids);
  made.ids.add(old_ids + count);
  if (count != 0) {
    Piece piece;
    piece.size = text_.size() - made.left.byte + size;
    piece.characters =
        count_code_points(text_.data() + made.left.byte, text_.size() - made.left.byte) +
        count_code_points(text, size);
    piece.ids = old_ids + count;
    piece.given = std::move(given);
    made.pieces.push_back(std::move(piece));
  }
  carry_out(edit, std::move(made), patch);
}

void Session::drop_text() {
  drops_text_ = true;
  Place place = place_before(text_.size());
  if (place.piece < 2)
    return;
  go_left(place); // the search for the next cut begins in the piece before
  text_.drop_front(place.byte);
  dropped_ += place.byte;
  pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(place.piece));
  std::size_t left = place.byte;
  auto range = ranges_.begin();
  for (; left != 0 && left >= range->size; ++range)
    left -= range->size;
  if (left != 0)
    range->size -= left;
  ranges_.erase(ranges_.begin(), range);
}

void Session::spans(std::size_t first, std::size_t last, PreTokenCache &cache,
                    Spans &spans) const {
  Place place{0, 0, 0};
  while (place.piece < pieces_.size() && place.id + pieces_[place.piece].ids <= first)
    go_right(place);
  for (; place.piece < pieces_.size() && place.id < last; go_right(place)) {
    const Piece &piece = pieces_[place.piece];
    Spans own;
    if (piece.given != nullptr) {
      std::int64_t byte = 0;
      for (const std::uint32_t size : *piece.given) {
        own.starts.push_back(byte);
        own.ends.push_back(byte += size);
      }
    } else {
      IdBuffer ids;
      with_policies(ranges_, 0, place.byte, place.byte + piece.size,
                    [&](const AddedTokenPhases &added) {
                      return tokenizer_->encode_spans(text_.data() + place.byte, piece.size,
                                                      added, cache, ids, own, part_at(place));
                    });
    }
    const std::size_t from = std::max(first, place.id) - place.id;
    const std::size_t to = std::min(last - place.id, own.starts.size());
    for (std::size_t i = from; i < to; ++i) {
      spans.starts.push_back(static_cast<std::int64_t>(place.byte) + own.starts[i]);
      spans.ends.push_back(static_cast<std::int64_t>(place.byte) +
                           std::max(own.starts[i], own.ends[i]));
    }
  }
}

std::vector<Session::Part> Session::parts() const {
  std::vector<Part> result;
  std::size_t range = 0;
  std::size_t range_end = ranges_.empty() ? 0 : ranges_.front().size;
  std::size_t byte = 0;
  for (const Piece &piece : pieces_) {
    const std::size_t end = byte + piece.size;
    const bool is_given = piece.given != nullptr;
    while (byte < end) {
      if (byte == range_end)
        range_end += ranges_[++range].size;
      const std::size_t size = std::min(end, range_end) - byte;
      const Policy &policy = ranges_[range].policy;
      if (!result.empty() && result.back().policy == policy &&
          result.back().is_given == is_given)
        result.back().size += size;
      else
        result.push_back({size, policy, is_given});
      byte += size;
    }
  }
  return result;
}

std::size_t Session::byte_of(std::size_t character) const {
  // Most calls ask for a place near the end.
  std::size_t piece = pieces_.size();
  std::size_t byte = text_.size();
  std::size_t done = characters_;
  while (piece != 0 && done > character) {
    --piece;
    byte -= pieces_[piece].size;
    done -= pieces_[piece].characters;
  }
  for (; byte < text_.size(); ++byte)
    if (!is_tail(text_[byte]) && done++ == character)
      return byte;
  return byte;
}

std::size_t Session::character_of(std::size_t byte) const {
  std::size_t start = text_.size();
  std::size_t characters = characters_;
  for (std::size_t piece = pieces_.size(); start > byte;) {
    --piece;
    start -= pieces_[piece].size;
    characters -= pieces_[piece].characters;
  }
  return characters + count_code_points(text_.data() + start, byte - start);
}

std::size_t Session::memory() const {
  std::size_t result = sizeof *this + text_.capacity() +
                       ids_.capacity() * sizeof(std::uint32_t) +
                       pieces_.capacity() * sizeof(Piece) + ranges_.capacity() * sizeof(Range);
  for (const Piece &piece : pieces_)
    if (piece.given != nullptr)
      result += piece.given->capacity() * sizeof(std::uint32_t);
  return result;
}

} // namespace pretok
