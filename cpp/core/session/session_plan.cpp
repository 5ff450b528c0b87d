// Finds which part of a text a change of a Session must encode, and encodes it.
#include "core/session/session_planner.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace pretok {

void Session::go_left(Place &place) const {
  const Piece &piece = pieces_[--place.piece];
  place.byte -= piece.size;
  place.id -= piece.ids;
}

void Session::go_right(Place &place) const {
  const Piece &piece = pieces_[place.piece++];
  place.byte += piece.size;
  place.id += piece.ids;
}

Session::Place Session::place_before(std::size_t start) const {
  Place place{pieces_.size(), text_.size(), ids_.size()};
  const auto is_kept = [&] {
    if (place.byte > start)
      return false;
    const Piece &before = pieces_[place.piece - 1];
    return before.given != nullptr || before.after <= start - place.byte;
  };
  while (place.piece != 0 && !is_kept())
    go_left(place);
  return place;
}

Session::Place Session::place_after(Place left, std::size_t start, std::size_t end) const {
  Place place = left;
  const auto is_kept = [&] {
    if (place.byte < end)
      return false;
    // An id that ends at `start` is on the left side of the edit, even if it has no bytes.
    const Piece &after = pieces_[place.piece];
    if (after.given != nullptr && place.byte + after.given->front() > start)
      return true;
    return place.piece != left.piece && pieces_[place.piece - 1].before <= place.byte - end;
  };
  while (place.piece != pieces_.size() && !is_kept())
    go_right(place);
  return place;
}

Encoder::Part Session::part_after_given(std::uint32_t id) const {
  const bool has_prefix = tokenizer_->encoder().spaces().prefix != TextSpaces::Prefix::NONE;
  const Normalizer normalizer = tokenizer_->normalizer();
  if (!has_prefix && (normalizer == Normalizer::NONE || normalizer == Normalizer::NFC))
    return Encoder::Part::LATER; // both parts are encoded alike
  for (const auto &[known, part] : parts_after_)
    if (known == id)
      return part;
  const std::vector<AddedToken> &added = tokenizer_->added();
  const auto token = std::find_if(added.begin(), added.end(),
                                  [&](const AddedToken &each) { return each.id == id; });
  if (token == added.end())
    return Encoder::Part::LATER;
  parts_after_.emplace_back(id, find_part_after(*token));
  return parts_after_.back().second;
}

Encoder::Part Session::find_part_after(const AddedToken &token) const {
  const CacheLease cache(tokenizer_->caches());
  const auto encoded = [&](const std::string &text, Encoder::Part part) {
    IdBuffer ids;
    tokenizer_->encode(reinterpret_cast<const std::uint8_t *>(text.data()), text.size(), *all_,
                       *cache, ids, part);
    return std::vector<std::uint32_t>(ids.data(), ids.data() + ids.size());
  };
  std::vector<std::uint32_t> first = encoded("a", Encoder::Part::FIRST);
  first.insert(first.begin(), token.id);
  return first == encoded(token.content + "a", Encoder::Part::FIRST) ? Encoder::Part::FIRST
                                                                     : Encoder::Part::LATER;
}

Encoder::Part Session::part_at(const Place &place) const {
  return place.piece == 0 ? first_part_
                          : part_after(pieces_[place.piece - 1], ids_[place.id - 1]);
}

Session::NewRanges Session::changed_ranges(const Edit &edit, const Policy &policy,
                                           const Plan &plan) const {
  // Replaces the ranges from the first one that touches the plan, since ranges may become one.
  NewRanges result{ranges_.size(), text_.size(), {}};
  while (result.first != 0 && result.start >= plan.left.byte)
    result.start -= ranges_[--result.first].size;
  result.ranges.reserve(ranges_.size() - result.first + 2);
  const auto add = [&](std::size_t size, const Policy &added) {
    if (size == 0)
      return;
    if (!result.ranges.empty() && result.ranges.back().policy == added)
      result.ranges.back().size += size;
    else
      result.ranges.push_back({size, added});
  };
  std::size_t start = result.start;
  for (std::size_t i = result.first; i < ranges_.size(); start += ranges_[i++].size)
    add(std::min(std::max(edit.start, start) - start, ranges_[i].size), ranges_[i].policy);
  add(edit.size, policy);
  start = result.start;
  for (std::size_t i = result.first; i < ranges_.size(); ++i) {
    const std::size_t end = start + ranges_[i].size;
    add(end - std::min(end, std::max(edit.end, start)), ranges_[i].policy);
    start = end;
  }
  return result;
}

Refusal Session::plan(const Edit &edit, const Policy &policy, PreTokenCache &cache,
                      Plan &plan) const {
  plan.left = place_before(edit.start);
  plan.right = place_after(plan.left, edit.start, edit.end);
  plan.ranges = changed_ranges(edit, policy, plan);
  plan.pieces.reserve(2);
  Refusal refusal = Planner(*this, edit, cache, plan).make();
  refusal.position += dropped_;
  return refusal;
}

Refusal Session::with_policies(const std::vector<Range> &ranges, std::size_t range_start,
                               std::size_t start, std::size_t end,
                               FunctionRef<Refusal(const AddedTokenPhases &)> encode) {
  std::shared_ptr<std::vector<AddedTokens::TextRange>> parts;
  for (const Range &range : ranges) {
    const std::size_t range_end = range_start + range.size;
    if (range_start <= start && end <= range_end)
      return encode(*range.policy);
    if (range_start < end && start < range_end) {
      if (parts == nullptr)
        parts = std::make_shared<std::vector<AddedTokens::TextRange>>();
      parts->push_back({std::min(end, range_end) - start, &range.policy->all, {}});
    }
    range_start = range_end;
  }
  return encode(AddedTokenPhases(AddedTokens::of_ranges(parts)));
}

} // namespace pretok
