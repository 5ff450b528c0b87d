#include "core/encode/tokenizer.hpp"

#include "core/base/sizes.hpp"
#include "core/unicode/word_characters.hpp"

#include <algorithm>
#include <utility>

namespace pretok {

static std::unique_ptr<const NormalizerChain> make_nfc_chain() {
  return std::make_unique<NormalizerChain>(std::vector{NORMALIZER_TYPES.make("NFC")},
                                           std::nullopt);
}

Tokenizer::Tokenizer(TokenizerParts &&parts)
    : parts_(std::move(parts)), normalizer_(parts_.nfc             ? Normalizer::NFC
                                            : parts_.sentencepiece ? Normalizer::SENTENCEPIECE
                                            : parts_.chain != nullptr ? Normalizer::CHAIN
                                                                      : Normalizer::NONE),
      nfc_chain_(parts_.nfc ? make_nfc_chain() : nullptr),
      encoder_(parts_.split.pre_tokenizer, *parts_.vocabulary, parts_.spaces,
               parts_.cache_limit, parts_.is_whole),
      lacks_bytes_(std::find(parts_.no_token.begin(), parts_.no_token.end(), true) !=
                   parts_.no_token.end()) {}

AddedTokens Tokenizer::search_for(std::vector<AddedToken> tokens) const {
  bool has_single_word = false;
  for (AddedToken &token : tokens) {
    if (token.normalized && parts_.chain != nullptr)
      token.content = parts_.chain->normalized(token.content);
    has_single_word = has_single_word || token.single_word;
  }
  return AddedTokens(tokens, has_single_word ? word_ranges() : CodePointRanges(), parts_.nfc);
}

const AddedToken &Tokenizer::original(const AddedToken &refused) const {
  if (parts_.chain == nullptr || !refused.normalized)
    return refused;
  const auto is_refused = [&](const AddedToken &token) {
    return token.special && token.normalized && token.id == refused.id &&
           parts_.chain->normalized(token.content) == refused.content;
  };
  const auto found = std::find_if(parts_.added.begin(), parts_.added.end(), is_refused);
  return found != parts_.added.end() ? *found : refused;
}

Refusal Tokenizer::visit_parts(const std::uint8_t *text, std::size_t size,
                               const AddedTokenPhases &added, bool has_sources,
                               Encoder::Part which, const NormalizedParts::OnToken &on_token,
                               const NormalizedParts::OnText &on_text) const {
  const NormalizerChain *chain = parts_.nfc ? nfc_chain_.get() : parts_.chain.get();
  return NormalizedParts(parts_.sentencepiece ? &*parts_.sentencepiece : nullptr, chain, added,
                         has_sources, which, on_token, on_text)
      .visit(text, size);
}

Refusal Tokenizer::encode_parts(const std::uint8_t *text, std::size_t size,
                                const AddedTokenPhases &added, Encoder::Part which,
                                FunctionRef<void(std::uint32_t)> on_token,
                                Encode encode) const {
  return visit_parts(
      text, size, added, false, which,
      [&](const AddedToken &token, NormalizedParts::Source) { on_token(token.id); },
      [&](const std::uint8_t *part, std::size_t part_size, const AddedTokens &tokens,
          const NormalizedParts::Source *,
          Encoder::Part place) { return encode(part, part_size, tokens, place); });
}

Refusal Tokenizer::encode_parts_with_spans(const std::uint8_t *text, std::size_t size,
                                           const AddedTokenPhases &added, PreTokenCache &cache,
                                           IdBuffer &ids, Spans &spans,
                                           Encoder::Part which) const {
  const auto add_token = [&](const AddedToken &token, NormalizedParts::Source source) {
    ids.append(token.id);
    spans.starts.push_back(source.start);
    spans.ends.push_back(token.content.empty() ? GIVEN_TOKEN : source.end);
  };
  const auto add_text = [&](const std::uint8_t *part, std::size_t part_size,
                            const AddedTokens &tokens, const NormalizedParts::Source *sources,
                            Encoder::Part place) {
    const std::size_t last = part_size - 1;
    std::size_t next = spans.starts.size();
    const Refusal refusal =
        encode_plain_spans(part, part_size, tokens, cache, ids, spans, place);
    // A token that is only a prefix may have an empty span at either end of the part.
    for (; next < spans.starts.size(); ++next) {
      std::int64_t &start = spans.starts[next];
      std::int64_t &end = spans.ends[next];
      start = sources[std::min(static_cast<std::size_t>(start), last)].start;
      end = std::max(start,
                     sources[static_cast<std::size_t>(std::max<std::int64_t>(end, 1)) - 1].end);
    }
    return refusal;
  };
  return visit_parts(text, size, added, true, which, add_token, add_text);
}

Refusal Tokenizer::encode_plain_spans(const std::uint8_t *text, std::size_t size,
                                      const AddedTokens &added, PreTokenCache &cache,
                                      IdBuffer &ids, Spans &spans, Encoder::Part which) const {
  const std::size_t next = spans.starts.size();
  const Refusal refusal =
      encoder_.encode_spans(text, size, added, cache, ids, spans.starts, spans.ends, which);
  extend_prefix_spans(spans, next);
  return refusal;
}

Refusal Tokenizer::encode_for_spans(const std::uint8_t *text, std::size_t size,
                                    const AddedTokenPhases &added, PreTokenCache &cache,
                                    IdBuffer &ids, PendingSpans &pending,
                                    Encoder::Part which) const {
  if (is_normalized(text, size))
    return encoder_.encode_for_spans(text, size, added.all, cache, ids, pending.parts, which);
  pending.are_known = true;
  return encode_parts_with_spans(text, size, added, cache, ids, pending.spans, which);
}

void Tokenizer::append_spans(const std::uint8_t *text, const PendingSpans &pending,
                             const std::uint32_t *ids, std::size_t count, Spans &spans) const {
  const std::size_t next = spans.starts.size();
  if (pending.are_known) {
    const Spans &known = pending.spans;
    spans.starts.insert(spans.starts.end(), known.starts.begin(), known.starts.end());
    spans.ends.insert(spans.ends.end(), known.ends.begin(), known.ends.end());
    return;
  }
  encoder_.append_spans(text, pending.parts, ids, count, spans.starts, spans.ends);
  extend_prefix_spans(spans, next);
}

void Tokenizer::extend_prefix_spans(Spans &spans, std::size_t next) const {
  // A token of the prefix alone gets the next byte, as in Hugging Face's tokenizers. If spaces
  // stand for marks, TextSpaces::prefix_has_span has decided.
  const TextSpaces &spaces = parts_.spaces;
  if (spaces.prefix != TextSpaces::Prefix::NONE && !spaces.are_marks)
    for (; next < spans.starts.size(); ++next)
      if (spans.starts[next] == spans.ends[next])
        ++spans.ends[next];
}

const TokenFacts &Tokenizer::facts() const {
  return facts_.get([&] {
    return std::make_unique<const TokenFacts>(complete_facts(
        parts_.facts, {decoder(), parts_.added, parts_.id_limit, parts_.unknown_id}));
  });
}

const TokenIndex &Tokenizer::token_index() const {
  return token_index_.get([&] {
    return std::make_unique<const TokenIndex>(decoder(), parts_.added, parts_.id_limit);
  });
}

const std::vector<std::uint32_t> &Tokenizer::sorted_ids() const {
  return sorted_ids_.get([&] {
    return std::make_unique<const std::vector<std::uint32_t>>(
        sorted_by_rendered(decoder(), parts_.id_limit));
  });
}

const std::vector<float> &Tokenizer::scores() const {
  return scores_.get([&] {
    const bool has_ranks = parts_.facts.scores.empty() && !parts_.is_text;
    auto scores = std::make_unique<std::vector<float>>(
        has_ranks ? scores_of_ranks(parts_.vocabulary->merges(), parts_.id_limit)
                  : parts_.facts.scores);
    scores->resize(parts_.id_limit);
    return scores;
  });
}

std::size_t Tokenizer::max_capacity(std::size_t size) const {
  // Each id takes at least one byte. NFC and TextSpaces::append make at most three bytes of
  // each byte of the text. A prefix adds one byte before an added token or before the text
  // between two of them, which has at least one byte. So it adds at most one byte per byte.
  const TextSpaces &spaces = encoder_.spaces();
  const std::size_t growth = parts_.sentencepiece      ? parts_.sentencepiece->max_growth()
                             : parts_.chain != nullptr ? parts_.chain->max_growth()
                             : normalizer_ == Normalizer::NFC || spaces.replaces_invalid
                                 ? std::size_t{3}
                                 : std::size_t{1};
  // A chain may make several added tokens of one byte, and so several parts with a prefix.
  const bool has_prefix = spaces.prefix != TextSpaces::Prefix::NONE;
  const std::size_t factor =
      saturating_add(growth, has_prefix ? (parts_.chain != nullptr ? growth : 1) : 0);
  const std::size_t rest =
      saturating_add(factor, parts_.ids_around.size() + std::size_t{ShortCache::PADDING});
  return std::min(saturating_add(saturating_multiply(size, factor), rest),
                  MAX_ELEMENTS<std::uint32_t>);
}

} // namespace pretok
