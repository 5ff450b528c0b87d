// Tokenizer::encode_spans. normalized_segments.py in bpe/encoding gives the same spans.
#include "core/base/ids.hpp"
#include "core/encode/tokenizer.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>

namespace pretok {
namespace {

// A range of bytes of the original text.
struct Source {
  std::int64_t start = 0;
  std::int64_t end = 0;
};

} // namespace

// Encodes a text that step 1 changes, with the spans of its tokens. Exact added tokens divide
// the text into parts. Each part is normalized and encoded by itself.
class Tokenizer::SpanEncoder {
public:
  SpanEncoder(const Tokenizer &tokenizer, const std::uint8_t *text,
              const AddedTokenPhases &added, PreTokenCache &cache, IdBuffer &ids, Spans &spans)
      : tokenizer_(tokenizer), parts_(tokenizer.parts_), chain_(tokenizer.aligning_chain()),
        text_(text), added_(added), cache_(cache), ids_(ids), spans_(spans) {}

  Refusal encode(std::size_t size) {
    Refusal refusal;
    const Refusal exact_refusal = added_.exact.split(text_, size, [&](const Segment &segment) {
      if (refusal.token != nullptr)
        return;
      if (segment.token == nullptr)
        refusal = add_part(segment.start, segment.end);
      else
        add_token(*segment.token, source_of(segment.start, segment.end));
    });
    // A refused token in a part comes before the refused exact token, at which `split` stops.
    return refusal.token != nullptr ? refusal : exact_refusal;
  }

private:
  Refusal add_part(std::size_t start, std::size_t end) {
    align(start, end);
    if (normal_.empty())
      return {};
    Refusal refusal = parts_.chain != nullptr && parts_.chain->has_metaspace()
                          ? add_metaspace_parts(start == 0)
                          : add_text(normal_.data(), sources_, added_.normalized);
    if (refusal.token != nullptr)
      refusal.position = static_cast<std::size_t>(sources_[refusal.position].start);
    return refusal;
  }

  // Normalizes text_[start..end) to normal_. Sets sources_: for each byte of normal_, the
  // source of its character.
  void align(std::size_t start, std::size_t end) {
    const std::uint8_t *const part = text_ + start;
    const std::size_t size = end - start;
    normal_.clear();
    sources_.clear();
    if (parts_.sentencepiece)
      return align_sentencepiece(part, size, start);
    Origins origins;
    chain_->align(part, size, normal_, origins);
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
  void align_sentencepiece(const std::uint8_t *part, std::size_t size, std::size_t start) {
    std::vector<std::int64_t> origins;
    parts_.sentencepiece->align(part, size, normal_, origins);
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

  static Source source_of(std::size_t start, std::size_t end) {
    return {static_cast<std::int64_t>(start), static_cast<std::int64_t>(end)};
  }

  // Adds the normalized added tokens of normal_, and the text between them as Metaspace changes
  // it. `is_start` says whether normal_ begins the whole text.
  Refusal add_metaspace_parts(bool is_start) {
    const AddedTokens nothing = added_.normalized.exact(); // has no exact tokens
    return added_.normalized.split(normal_.data(), normal_.size(), [&](const Segment &segment) {
      if (segment.token != nullptr)
        return add_token(*segment.token,
                         {sources_[segment.start].start, sources_[segment.end - 1].end});
      const auto is_first = [&](std::size_t at) {
        return is_start && sources_[segment.start + at].start == 0;
      };
      parts_.chain->apply_metaspace(
          normal_.data() + segment.start, segment.end - segment.start, is_first,
          [&](const std::uint8_t *changed, std::size_t size, std::size_t piece,
              std::size_t piece_end) {
            add_piece(changed, size, segment.start + piece, segment.start + piece_end, nothing);
          });
    });
  }

  // Adds normal_[start..end), which Metaspace has changed to changed[0..size).
  void add_piece(const std::uint8_t *changed, std::size_t size, std::size_t start,
                 std::size_t end, const AddedTokens &nothing) {
    const std::size_t mark = parts_.chain->mark_size();
    std::vector<Source> sources;
    for (std::size_t at = start; at < end; ++at)
      sources.insert(sources.end(), normal_[at] == ' ' ? mark : 1, sources_[at]);
    // A prefix has the source of the first character.
    sources.insert(sources.begin(), size - sources.size(), sources_[start]);
    add_text(changed, sources, nothing);
  }

  // Adds a text. `sources` has the source of each of its bytes.
  Refusal add_text(const std::uint8_t *text, const std::vector<Source> &sources,
                   const AddedTokens &added) {
    const std::size_t last = sources.size() - 1;
    std::size_t next = spans_.starts.size();
    const Refusal refusal =
        tokenizer_.encode_plain_spans(text, sources.size(), added, cache_, ids_, spans_);
    // A token that is only a prefix may have an empty span at either end of the text.
    for (; next < spans_.starts.size(); ++next) {
      std::int64_t &start = spans_.starts[next];
      std::int64_t &end = spans_.ends[next];
      start = sources[std::min(static_cast<std::size_t>(start), last)].start;
      end = std::max(start,
                     sources[static_cast<std::size_t>(std::max<std::int64_t>(end, 1)) - 1].end);
    }
    return refusal;
  }

  void add_token(const AddedToken &token, Source source) {
    *ids_.room(1) = token.id;
    ids_.add(1);
    spans_.starts.push_back(source.start);
    spans_.ends.push_back(source.end);
  }

  const Tokenizer &tokenizer_;
  const TokenizerParts &parts_;
  const NormalizerChain *chain_;
  const std::uint8_t *text_;
  const AddedTokenPhases &added_;
  PreTokenCache &cache_;
  IdBuffer &ids_;
  Spans &spans_;
  std::vector<std::uint8_t> normal_; // the normalized part
  std::vector<Source> sources_;      // by byte of normal_
};

Refusal Tokenizer::encode_plain_spans(const std::uint8_t *text, std::size_t size,
                                      const AddedTokens &added, PreTokenCache &cache,
                                      IdBuffer &ids, Spans &spans, Encoder::Part which) const {
  std::size_t next = spans.starts.size();
  const Refusal refusal =
      encoder_.encode_spans(text, size, added, cache, ids, spans.starts, spans.ends, which);
  // A token of the prefix alone gets the next byte, as in Hugging Face's tokenizers. If spaces
  // stand for marks, TextSpaces::prefix_has_span has decided.
  const TextSpaces &spaces = parts_.spaces;
  if (spaces.prefix != TextSpaces::Prefix::NONE && !spaces.are_marks)
    for (; next < spans.starts.size(); ++next)
      if (spans.starts[next] == spans.ends[next])
        ++spans.ends[next];
  return refusal;
}

Refusal Tokenizer::encode_spans(const std::uint8_t *text, std::size_t size,
                                const AddedTokenPhases &added, PreTokenCache &cache,
                                IdBuffer &ids, Spans &spans, Encoder::Part which) const {
  return is_normalized(text, size)
             ? encode_plain_spans(text, size, added.all, cache, ids, spans, which)
             : SpanEncoder(*this, text, added, cache, ids, spans).encode(size);
}

} // namespace pretok
