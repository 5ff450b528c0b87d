// Steps 1 and 2 of Tokenizer for a text that step 1 changes: exact added tokens divide the text
// into parts, and each part is normalized by itself. normalized_segments.py in bpe/encoding
// does the same.
#pragma once

#include "core/base/function_ref.hpp"
#include "core/encode/added.hpp"
#include "core/encode/encoder.hpp"
#include "core/normalize/normalizer_chain.hpp"
#include "core/normalize/sentencepiece_normalizer.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pretok {

// Step 2. The added tokens that a call searches for. `exact` tokens are found before step 1, so
// normalizing never changes them. `normalized` tokens have AddedToken::normalized, and are
// found after step 1. If step 1 does not change a text, one search for `all` finds tokens of
// both kinds.
struct AddedTokenPhases {
  explicit AddedTokenPhases(const AddedTokens &tokens)
      : all(tokens), exact(tokens.exact()), normalized(tokens.normalized()) {}

  AddedTokens all;
  AddedTokens exact;
  AddedTokens normalized;
};

class NormalizedParts {
public:
  // A range of bytes of the original text.
  struct Source {
    std::int64_t start = 0;
    std::int64_t end = 0;
  };
  // Takes a token that is found before the last step of normalizing.
  using OnToken = FunctionRef<void(const AddedToken &, Source)>;
  // Takes a normalized part, and the tokens to search for in it. The next argument has the
  // source of each of its bytes, or is nullptr unless `has_sources`. The last argument is LATER
  // if the part continues a text.
  using OnText = FunctionRef<Refusal(const std::uint8_t *, std::size_t, const AddedTokens &,
                                     const Source *, Encoder::Part)>;

  // Either `sentencepiece` or `chain` is the normalizer, and the other one is nullptr. If not
  // `has_sources`, the sources of tokens may be missing too. If `which` is LATER, the start of
  // the text takes no prefix.
  NormalizedParts(const SentencePieceNormalizer *sentencepiece, const NormalizerChain *chain,
                  const AddedTokenPhases &added, bool has_sources, Encoder::Part which,
                  const OnToken &on_token, const OnText &on_text)
      : sentencepiece_(sentencepiece), chain_(chain), added_(added), has_sources_(has_sources),
        which_(which), on_token_(on_token), on_text_(on_text) {}

  // Passes the tokens and parts of text[0..size) to the functions. After a refused token, no
  // more calls follow, and its Refusal is returned with the position in `text`.
  Refusal visit(const std::uint8_t *text, std::size_t size);

private:
  // Returns the normalized added tokens to search for in normal_.
  const AddedTokens &tokens() const { return moved_ ? *moved_ : added_.normalized; }
  // Returns the byte of normal_ for each byte offset in the text; the offsets ascend. A
  // character that normalizing makes of characters on both sides of an offset counts to the
  // left side, at which it begins.
  std::vector<std::size_t> normalized_places(const std::vector<std::size_t> &places) const;
  Refusal visit_part(const std::uint8_t *part, std::size_t size, std::size_t start);
  // Returns whether the text continues another text at byte `start`.
  bool continues(std::size_t start) const {
    return which_ == Encoder::Part::LATER && start == 0;
  }
  // Passes on the normalized added tokens of normal_, and the text between them as Metaspace
  // changes it. normal_ begins at byte `start` of the text.
  Refusal visit_metaspace_parts(std::size_t start);
  // Returns whether Metaspace must know which byte of a part is the first byte of the text.
  bool needs_sources(std::size_t start) const {
    return start == 0 &&
           chain_->prepend() ==
               (which_ == Encoder::Part::FIRST ? PrependScheme::FIRST : PrependScheme::ALWAYS);
  }
  // Passes on normal_[start..end), which Metaspace has changed to changed[0..size).
  void visit_piece(const std::uint8_t *changed, std::size_t size, std::size_t start,
                   std::size_t end, const AddedTokens &added, Encoder::Part place);

  // The part begins at byte `start` of the text.
  void normalize(const std::uint8_t *part, std::size_t size, std::size_t start);
  // Sets sources_ too.
  void align(const std::uint8_t *part, std::size_t size, std::size_t start);
  void align_sentencepiece(const std::uint8_t *part, std::size_t size, std::size_t start);

  const SentencePieceNormalizer *sentencepiece_;
  const NormalizerChain *chain_;
  const AddedTokenPhases &added_;
  bool has_sources_;
  Encoder::Part which_;
  const OnToken &on_token_;
  const OnText &on_text_;
  std::vector<std::uint8_t> normal_; // the normalized part
  std::vector<Source> sources_;      // by byte of normal_; empty if they are not known
  std::optional<AddedTokens> moved_; // for normal_, if the tokens have ranges
};

} // namespace pretok
