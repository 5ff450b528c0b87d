#include "core/encode/tokenizer.hpp"

#include "core/base/sizes.hpp"
#include "core/encode/nfc_source.hpp"

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

template <typename OnToken, typename OnText>
Refusal Tokenizer::for_metaspace_parts(const std::uint8_t *part, std::size_t size,
                                       bool is_start, const std::vector<std::uint8_t> &normal,
                                       const AddedTokens &normalized, OnToken on_token,
                                       OnText on_text) const {
  const AddedTokens nothing = normalized.exact(); // `normalized` has no exact tokens
  std::vector<std::size_t> sources;
  const auto is_first = [&](std::size_t at) {
    if (is_start && sources.empty())
      sources = parts_.chain->sources(part, size);
    return is_start && sources[at] == 0;
  };
  return normalized.split(normal.data(), normal.size(), [&](const Segment &segment) {
    if (segment.token != nullptr)
      return on_token(*segment.token);
    parts_.chain->apply_metaspace(
        normal.data() + segment.start, segment.end - segment.start,
        [&](std::size_t at) { return is_first(segment.start + at); },
        [&](const std::uint8_t *text, std::size_t text_size, std::size_t, std::size_t) {
          on_text(text, text_size, nothing);
        });
  });
}

template <typename OnToken, typename OnText>
Refusal Tokenizer::for_normalized_parts(const std::uint8_t *text, std::size_t size,
                                        const AddedTokenPhases &added, OnToken on_token,
                                        OnText on_text) const {
  std::vector<std::uint8_t> normalized;
  Refusal refusal;
  const Refusal exact_refusal = added.exact.split(text, size, [&](const Segment &segment) {
    if (refusal.token != nullptr)
      return;
    if (segment.token != nullptr)
      return on_token(*segment.token);
    const std::uint8_t *const part = text + segment.start;
    const std::size_t part_size = segment.end - segment.start;
    normalized.clear();
    if (parts_.sentencepiece)
      parts_.sentencepiece->normalize(part, part_size, normalized);
    else if (parts_.chain != nullptr)
      parts_.chain->normalize(part, part_size, normalized);
    else
      to_nfc(part, part_size, normalized);
    if (normalized.empty())
      return;
    refusal = parts_.chain != nullptr && parts_.chain->has_metaspace()
                  ? for_metaspace_parts(part, part_size, segment.start == 0, normalized,
                                        added.normalized, on_token, on_text)
                  : on_text(normalized.data(), normalized.size(), added.normalized);
    // SentencePiece finds no special tokens in normalized text.
    if (refusal.token != nullptr)
      refusal.position =
          segment.start + (parts_.chain != nullptr
                               ? parts_.chain->sources(part, part_size)[refusal.position]
                               : find_nfc_source(part, part_size, refusal.position).position);
  });
  // A refused token in a part comes before the refused exact token, at which `split` stops, so
  // it is the first of the two.
  return refusal.token != nullptr ? refusal : exact_refusal;
}

Refusal Tokenizer::encode_parts(const std::uint8_t *text, std::size_t size,
                                const AddedTokenPhases &added, PreTokenCache &cache,
                                IdBuffer &ids) const {
  const auto append_token = [&](const AddedToken &token) {
    *ids.room(1) = token.id;
    ids.add(1);
  };
  const auto encode_part = [&](const std::uint8_t *part, std::size_t part_size,
                               const AddedTokens &tokens) {
    return encoder_.encode(part, part_size, tokens, cache, ids);
  };
  return for_normalized_parts(text, size, added, append_token, encode_part);
}

Refusal Tokenizer::count_parts(const std::uint8_t *text, std::size_t size,
                               const AddedTokenPhases &added, PreTokenCache &cache,
                               std::size_t &result) const {
  const auto count_token = [&](const AddedToken &) { ++result; };
  const auto count_part = [&](const std::uint8_t *part, std::size_t part_size,
                              const AddedTokens &tokens) {
    return encoder_.count(part, part_size, tokens, cache, result);
  };
  return for_normalized_parts(text, size, added, count_token, count_part);
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

void Tokenizer::append(const std::vector<std::uint32_t> &more, IdBuffer &ids) {
  if (more.empty())
    return;
  std::copy(more.begin(), more.end(), ids.room(more.size()));
  ids.add(more.size());
}

} // namespace pretok
