// Text to ids: all steps, in the order in which a text passes through them.
//
//   text            "<s>Cafe\u0301 x2"
//   1. normalize    "<s>Café x2"                core/unicode/nfc.hpp, core/normalize/
//   2. added tokens <s> | "Café x2"             core/encode/added.hpp
//   3. split        <s> | "Café" " x" "2"       core/split/pre_tokenizer.hpp
//   4. cache        ids of known pre-tokens     core/cache/pre_token_cache.hpp
//   5. merge        ids of new pre-tokens       core/bpe/vocabulary.hpp
//   6. template     ids around the text         Template, below
//   back            ids to text                 core/decode/decoder.hpp
//
// Tokenizer owns the parts of all steps. Encoder (encoder.hpp) does steps 2 to 5 in one pass
// over a text that needs no step 1. formats/make_tokenizer.hpp makes a Tokenizer from the parts
// of a file. capi/encode_call.cpp and bindings/ call it.
#pragma once

#include "core/base/id_buffer.hpp"
#include "core/base/made_at_first_use.hpp"
#include "core/bpe/vocabulary.hpp"
#include "core/decode/decoder.hpp"
#include "core/encode/added.hpp"
#include "core/encode/encoder.hpp"
#include "core/encode/normalized_parts.hpp"
#include "core/encode/token_facts.hpp"
#include "core/encode/token_index.hpp"
#include "core/normalize/normalizer_chain.hpp"
#include "core/normalize/sentencepiece_normalizer.hpp"
#include "core/split/named_pre_tokenizer.hpp"
#include "core/unicode/nfc.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace pretok {

// Step 1. Says how Tokenizer normalizes text.
enum class Normalizer { NONE, NFC, SENTENCEPIECE, CHAIN };

// Step 6. Ids that a model expects around a text, such as its BOS and EOS tokens.
struct Template {
  std::size_t size() const { return before.size() + after.size(); }

  std::vector<std::uint32_t> before;
  std::vector<std::uint32_t> after;
};

// The parts of a Tokenizer, in the order of the steps. At most one of `nfc`, `sentencepiece`
// and `chain` is set.
struct TokenizerParts {
  bool nfc = false; // step 1 normalizes text to NFC
  // No normalized added token may be special.
  std::optional<SentencePieceNormalizer> sentencepiece;
  std::unique_ptr<NormalizerChain> chain;
  std::vector<AddedToken> added; // step 2
  NamedPreTokenizer split;       // step 3
  TextSpaces spaces;             // Encoder explains this member and is_whole
  bool is_whole = false;
  std::size_t cache_limit = CacheBudget::DEFAULT_LIMIT; // step 4, in bytes
  std::unique_ptr<const Vocabulary> vocabulary;         // step 5
  Template ids_around;                                  // step 6
  std::unique_ptr<const Decoder> decoder;               // nullptr: the caller decodes
  std::size_t id_limit = 0;                             // the largest id plus one
  // For each byte, whether the vocabulary has no token of this byte. False for all bytes if the
  // tokens are text.
  std::array<bool, 256> no_token{};
  TokenFacts facts; // of the file
  std::uint32_t unknown_id = NO_ID;
  bool is_text = false; // whether tokens are text, and not bytes
};

// The start and the end of each token in a text, in bytes.
struct Spans {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
};

// The spans of the tokens of a text, or the parts from which they follow.
struct PendingSpans {
  std::vector<Encoder::EncodedPart> parts;
  Spans spans;
  bool are_known = false;
};

// Threads may share a Tokenizer.
class Tokenizer {
public:
  explicit Tokenizer(TokenizerParts &&parts);
  // Not movable: the parts refer to each other.
  Tokenizer(const Tokenizer &) = delete;
  Tokenizer &operator=(const Tokenizer &) = delete;

  // Appends the ids of a text in UTF-8. Invalid bytes are encoded as they are; with
  // TextSpaces::replaces_invalid they become U+FFFD. `which` says whether the text is a later
  // part of a longer text (Encoder::Part), so that no prefix comes before it. Stops at a
  // special token that `added` refuses, and returns the token and its byte offset in `text`;
  // `ids` then has the ids before this token. Throws std::bad_alloc.
  Refusal encode(const std::uint8_t *text, std::size_t size, const AddedTokenPhases &added,
                 PreTokenCache &cache, IdBuffer &ids,
                 Encoder::Part which = Encoder::Part::FIRST) const {
    return in_parts(
        text, size, added, which, [&](std::uint32_t id) { ids.append(id); },
        [&](const std::uint8_t *part, std::size_t part_size, const AddedTokens &tokens,
            Encoder::Part place) {
          return encoder_.encode(part, part_size, tokens, cache, ids, place);
        });
  }

  // Adds to `result` the number of ids that `encode` would append.
  Refusal count(const std::uint8_t *text, std::size_t size, const AddedTokenPhases &added,
                PreTokenCache &cache, std::size_t &result,
                Encoder::Part which = Encoder::Part::FIRST) const {
    return in_parts(
        text, size, added, which, [&](std::uint32_t) { ++result; },
        [&](const std::uint8_t *part, std::size_t part_size, const AddedTokens &tokens,
            Encoder::Part place) {
          return encoder_.count(part, part_size, tokens, cache, result, place);
        });
  }

  // Like `encode`. Also appends the spans of the tokens in `text`, which is the text before
  // step 1.
  Refusal encode_spans(const std::uint8_t *text, std::size_t size,
                       const AddedTokenPhases &added, PreTokenCache &cache, IdBuffer &ids,
                       Spans &spans, Encoder::Part which = Encoder::Part::FIRST) const {
    return is_normalized(text, size)
               ? encode_plain_spans(text, size, added.all, cache, ids, spans, which)
               : encode_parts_with_spans(text, size, added, cache, ids, spans, which);
  }

  // Like `encode`, but leaves out merges at random, without a cache. The Tokenizer must be made
  // with TokenizerOptions::for_dropout.
  Refusal encode_some(const std::uint8_t *text, std::size_t size, const AddedTokenPhases &added,
                      Dropout &dropout, IdBuffer &ids,
                      Encoder::Part which = Encoder::Part::FIRST) const {
    return in_parts(
        text, size, added, which, [&](std::uint32_t id) { ids.append(id); },
        [&](const std::uint8_t *part, std::size_t part_size, const AddedTokens &tokens,
            Encoder::Part place) {
          return encoder_.encode_some(part, part_size, tokens, dropout, ids, place);
        });
  }

  // Do the same as encode_spans. encode_for_spans takes hardly longer than `encode`; the parts
  // in `pending` refer to the tokens of `added`. append_spans takes the same text and the ids
  // of encode_for_spans.
  Refusal encode_for_spans(const std::uint8_t *text, std::size_t size,
                           const AddedTokenPhases &added, PreTokenCache &cache, IdBuffer &ids,
                           PendingSpans &pending,
                           Encoder::Part which = Encoder::Part::FIRST) const;
  void append_spans(const std::uint8_t *text, const PendingSpans &pending,
                    const std::uint32_t *ids, std::size_t count, Spans &spans) const;

  // Append the ids of step 6, for callers that want the template: `begin` those before a text,
  // and `end` those after it.
  void begin(IdBuffer &ids) const {
    ids.append(parts_.ids_around.before.data(), parts_.ids_around.before.size());
  }
  void end(IdBuffer &ids) const {
    ids.append(parts_.ids_around.after.data(), parts_.ids_around.after.size());
  }

  // Returns a capacity for the ids of any text of `size` bytes, its template, and the padding
  // that `encode` writes after the ids. Returns MAX_ELEMENTS<std::uint32_t> if it would be
  // larger.
  std::size_t max_capacity(std::size_t size) const;

  // Returns the search for `tokens`, which are some of added(), in the text of step 2. The
  // treatment is ALLOW.
  AddedTokens search_for(std::vector<AddedToken> tokens) const;
  // Returns the token of added() that a search has refused. The search may have its normalized
  // content.
  const AddedToken &original(const AddedToken &refused) const;

  const NamedPreTokenizer &split() const { return parts_.split; }
  const Encoder &encoder() const { return encoder_; }
  CachePool &caches() const { return encoder_.caches(); }
  const Vocabulary &vocabulary() const { return *parts_.vocabulary; }
  const Decoder &decoder() const { return *parts_.decoder; }
  Normalizer normalizer() const { return normalizer_; }
  const Template &ids_around() const { return parts_.ids_around; }
  const std::vector<AddedToken> &added() const { return parts_.added; }
  // Returns the largest id plus one.
  std::size_t id_limit() const { return parts_.id_limit; }

  // Return the facts that the file states, and those that complete_facts makes of them.
  const TokenFacts &file_facts() const { return parts_.facts; }
  const TokenFacts &facts() const;
  // Return an index of the tokens, their order (sorted_by_rendered), and the score of each id:
  // that of TokenizerParts::facts or, if it has none and tokens are bytes, that of
  // scores_of_ranks.
  const TokenIndex &token_index() const;
  const std::vector<std::uint32_t> &sorted_ids() const;
  const std::vector<float> &scores() const;
  bool is_text() const { return parts_.is_text; }

  // Return whether the vocabulary has no token for some byte, or for this byte
  // (TokenizerParts::no_token).
  bool lacks_bytes() const { return lacks_bytes_; }
  bool lacks(std::uint8_t byte) const { return parts_.no_token[byte]; }

  // Returns true only if step 1 keeps a text.
  bool is_normalized(const std::uint8_t *text, std::size_t size) const {
    return normalizer_ == Normalizer::NONE ||
           (normalizer_ == Normalizer::NFC && is_nfc(text, size));
  }

private:
  // Like encode_spans, for a text that needs no step 1.
  Refusal encode_plain_spans(const std::uint8_t *text, std::size_t size,
                             const AddedTokens &added, PreTokenCache &cache, IdBuffer &ids,
                             Spans &spans, Encoder::Part which = Encoder::Part::FIRST) const;
  // Changes spans from `next` on that only the prefix has.
  void extend_prefix_spans(Spans &spans, std::size_t next) const;
  // For a text that step 1 changes. Each normalized part passes through steps 2 to 5 by itself.
  // NormalizedParts explains the parameters.
  Refusal visit_parts(const std::uint8_t *text, std::size_t size, const AddedTokenPhases &added,
                      bool has_sources, Encoder::Part which,
                      const NormalizedParts::OnToken &on_token,
                      const NormalizedParts::OnText &on_text) const;
  using Encode = FunctionRef<Refusal(const std::uint8_t *, std::size_t, const AddedTokens &,
                                     Encoder::Part)>;
  Refusal encode_parts(const std::uint8_t *text, std::size_t size,
                       const AddedTokenPhases &added, Encoder::Part which,
                       FunctionRef<void(std::uint32_t)> on_token, Encode encode) const;
  // Returns encode(text, size, tokens to search for, which) if step 1 keeps the text. Else
  // calls `encode` for each normalized part, and on_token(id) for the added tokens between.
  template <typename OnToken, typename EncodePart>
  Refusal in_parts(const std::uint8_t *text, std::size_t size, const AddedTokenPhases &added,
                   Encoder::Part which, OnToken on_token, EncodePart encode) const {
    return is_normalized(text, size) ? encode(text, size, added.all, which)
                                     : encode_parts(text, size, added, which, on_token, encode);
  }
  Refusal encode_parts_with_spans(const std::uint8_t *text, std::size_t size,
                                  const AddedTokenPhases &added, PreTokenCache &cache,
                                  IdBuffer &ids, Spans &spans, Encoder::Part which) const;

  const TokenizerParts parts_;
  const Normalizer normalizer_;
  const std::unique_ptr<const NormalizerChain> nfc_chain_; // only if parts_.nfc
  const Encoder encoder_;                                  // refers to parts_
  const bool lacks_bytes_;
  MadeAtFirstUse<TokenFacts> facts_;
  MadeAtFirstUse<TokenIndex> token_index_;
  MadeAtFirstUse<std::vector<std::uint32_t>> sorted_ids_;
  MadeAtFirstUse<std::vector<float>> scores_;
};

} // namespace pretok
