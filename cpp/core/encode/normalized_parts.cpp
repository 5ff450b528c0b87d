#include "core/encode/normalized_parts.hpp"

#include "core/unicode/utf8.hpp"

namespace pretok {
namespace {

NormalizedParts::Source source_of(std::size_t start, std::size_t end) {
  return {static_cast<std::int64_t>(start), static_cast<std::int64_t>(end)};
}

} // namespace

Refusal NormalizedParts::visit(const std::uint8_t *text, std::size_t size) {
  Refusal refusal;
  const Refusal exact_refusal = added_.exact.split(text, size, [&](const Segment &segment) {
    if (refusal.token != nullptr)
      return;
    if (segment.token != nullptr)
      on_token_(*segment.token, source_of(segment.start, segment.end));
    else
      refusal = visit_part(text + segment.start, segment.end - segment.start, segment.start);
  });
  // A refused token in a part comes before the refused exact token, at which `split` stops.
  return refusal.token != nullptr ? refusal : exact_refusal;
}

Refusal NormalizedParts::visit_part(const std::uint8_t *part, std::size_t size,
                                    std::size_t start) {
  const bool has_metaspace = chain_ != nullptr && chain_->has_metaspace();
  const AddedTokens searched = added_.normalized.of_part(start, start + size);
  const std::vector<std::size_t> ends = searched.ends();
  if (has_sources_ || !ends.empty() || (has_metaspace && needs_sources(start)))
    align(part, size, start);
  else
    normalize(part, size, start);
  if (!ends.empty())
    moved_ = searched.moved(normalized_places(ends));
  if (normal_.empty())
    return {};
  Refusal refusal =
      has_metaspace ? visit_metaspace_parts(start)
                    : on_text_(normal_.data(), normal_.size(), tokens(),
                               has_sources_ ? sources_.data() : nullptr,
                               continues(start) ? Encoder::Part::LATER : Encoder::Part::FIRST);
  if (refusal.token == nullptr)
    return refusal;
  if (sources_.empty())
    align(part, size, start);
  refusal.position = static_cast<std::size_t>(sources_[refusal.position].start);
  return refusal;
}

std::vector<std::size_t>
NormalizedParts::normalized_places(const std::vector<std::size_t> &places) const {
  std::vector<std::size_t> moved;
  std::size_t at = 0;
  for (const std::size_t place : places) {
    while (at < sources_.size() && static_cast<std::size_t>(sources_[at].start) < place)
      ++at;
    moved.push_back(at);
  }
  return moved;
}

Refusal NormalizedParts::visit_metaspace_parts(std::size_t start) {
  const PrependScheme scheme = chain_->prepend();
  const bool needs_starts = needs_sources(start);
  const AddedTokens nothing = added_.normalized.exact(); // has no exact tokens
  return tokens().split(normal_.data(), normal_.size(), [&](const Segment &segment) {
    if (segment.token != nullptr)
      return on_token_(*segment.token, sources_.empty()
                                           ? Source{}
                                           : Source{sources_[segment.start].start,
                                                    sources_[segment.end - 1].end});
    chain_->apply_metaspace(
        normal_.data() + segment.start, segment.end - segment.start,
        [&](std::size_t at) {
          const bool is_start = needs_starts && sources_[segment.start + at].start == 0;
          return scheme == PrependScheme::FIRST ? is_start
                                                : scheme == PrependScheme::ALWAYS && !is_start;
        },
        [&](const std::uint8_t *changed, std::size_t size, std::size_t piece,
            std::size_t piece_end) {
          const std::size_t at = segment.start + piece;
          visit_piece(changed, size, at, segment.start + piece_end, nothing,
                      continues(start + at) ? Encoder::Part::LATER : Encoder::Part::FIRST);
        });
  });
}

void NormalizedParts::visit_piece(const std::uint8_t *changed, std::size_t size,
                                  std::size_t start, std::size_t end, const AddedTokens &added,
                                  Encoder::Part place) {
  std::vector<Source> sources;
  if (has_sources_) {
    const std::size_t mark = chain_->mark_size();
    for (std::size_t at = start; at < end; ++at)
      sources.insert(sources.end(), normal_[at] == ' ' ? mark : 1, sources_[at]);
    // A prefix has the source of the first character.
    sources.insert(sources.begin(), size - sources.size(), sources_[start]);
  }
  on_text_(changed, size, added, has_sources_ ? sources.data() : nullptr, place);
}

void NormalizedParts::normalize(const std::uint8_t *part, std::size_t size, std::size_t start) {
  normal_.clear();
  sources_.clear();
  if (sentencepiece_ != nullptr)
    sentencepiece_->normalize(part, size, normal_, continues(start));
  else
    (continues(start) ? chain_->continuing() : *chain_).normalize(part, size, normal_);
}

void NormalizedParts::align(const std::uint8_t *part, std::size_t size, std::size_t start) {
  normal_.clear();
  sources_.clear();
  if (sentencepiece_ != nullptr)
    return align_sentencepiece(part, size, start);
  Origins origins;
  (continues(start) ? chain_->continuing() : *chain_).align(part, size, normal_, origins);
  sources_.reserve(origins.size());
  for (const std::int64_t origin : origins) {
    const auto first = static_cast<std::size_t>(origin);
    if (origin == SAME_ORIGIN)
      sources_.push_back(sources_.back());
    else if (origin == NO_ORIGIN)
      sources_.push_back(source_of(start, start));
    else
      sources_.push_back(source_of(
          start + first, start + first + decode_utf8(part + first, size - first).width));
  }
}

// The origins of SentencePiece count characters. A source ends where the next one begins.
void NormalizedParts::align_sentencepiece(const std::uint8_t *part, std::size_t size,
                                          std::size_t start) {
  std::vector<std::int64_t> origins;
  sentencepiece_->align(part, size, normal_, origins, continues(start));
  std::vector<std::size_t> places; // of the characters, and the end
  for (std::size_t at = 0; at < size; at += decode_utf8(part + at, size - at).width)
    places.push_back(start + at);
  places.push_back(start + size);
  std::size_t character = 0;
  for (std::size_t at = 0; at < normal_.size(); ++character) {
    const std::size_t width = decode_utf8(normal_.data() + at, normal_.size() - at).width;
    sources_.insert(sources_.end(), width,
                    source_of(places[static_cast<std::size_t>(origins[character])],
                              places[static_cast<std::size_t>(origins[character + 1])]));
    at += width;
  }
}

} // namespace pretok
