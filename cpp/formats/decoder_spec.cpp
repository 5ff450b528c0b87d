#include "formats/decoder_spec.hpp"

#include "core/encode/text_spaces.hpp"
#include "core/unicode/byte_level.hpp"
#include "formats/character_spec.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace pretok {
namespace {

class DecoderMaker {
public:
  DecoderMaker(const TokenizerSpec &spec, std::size_t listed, const NormalizerChain *normalizer)
      : spec_(spec), listed_(listed), normalizer_(normalizer), is_text_(spec.text) {
    if (spec.nfc)
      normalizer_ = &nfc_.emplace(std::vector<NormalizerStep>{NORMALIZER_TYPES.make("NFC")},
                                  std::nullopt);
  }

  std::unique_ptr<const Decoder> make() {
    list_tokens();
    if (spec_.decoder) {
      set_chain_texts();
      parts_.steps = *spec_.decoder;
    } else if (spec_.decoding) {
      set_pieces(*spec_.decoding);
    }
    return std::make_unique<const Decoder>(std::move(parts_));
  }

private:
  // Sets the tokens and all flags but SPACED.
  void list_tokens() {
    const VocabularyData &data = spec_.vocabulary;
    parts_.tokens.resize(first_step(spec_));
    parts_.flags.resize(parts_.tokens.size());
    if (spec_.decoder || spec_.decoding)
      texts_.resize(parts_.tokens.size());
    const auto *at = reinterpret_cast<const char *>(data.bytes.data());
    for (std::size_t i = 0; i < listed_; at += data.lengths[i++]) {
      const std::uint32_t id = data.ids[i];
      const std::string_view text(at, data.lengths[i]);
      if (!texts_.empty())
        texts_[id] = text;
      parts_.tokens[id] = text;
      parts_.flags[id] |= IdFlag::TOKEN;
      const bool may_be_fallback =
          spec_.characters || (spec_.text && spec_.text->has_fallback && i < data.mergeable);
      if (const auto byte = may_be_fallback ? fallback_byte(text) : std::nullopt) {
        parts_.tokens[id] = own({static_cast<char>(*byte)});
        parts_.flags[id] |= IdFlag::FALLBACK;
      }
    }
    for (const AddedToken &token : spec_.added) {
      if ((parts_.flags[token.id] & IdFlag::TOKEN) == 0) {
        parts_.tokens[token.id] = token.content;
        parts_.flags[token.id] |= IdFlag::TOKEN;
      }
      if (token.special)
        parts_.flags[token.id] |= IdFlag::SPECIAL | IdFlag::SKIPPED;
    }
  }

  // Sets the texts that the decoders of a tokenizer.json change.
  void set_chain_texts() {
    parts_.texts = texts_;
    if (!is_text_) // the decoders take the characters that stand for bytes
      for (std::string_view &text : parts_.texts)
        text = own(byte_characters(text));
    std::set<std::string_view> special;
    for (const AddedToken &token : spec_.added) {
      parts_.texts[token.id] = token.content;
      if (token.normalized && normalizer_ != nullptr)
        parts_.texts[token.id] = own(normalizer_->normalized(token.content));
      if (token.special)
        special.insert(token.content);
    }
    for (const AddedToken &token : spec_.added) {
      std::uint8_t &flags = parts_.flags[token.id];
      flags &= static_cast<std::uint8_t>(~IdFlag::SKIPPED);
      if (special.count(parts_.texts[token.id]) != 0)
        flags |= IdFlag::SKIPPED;
    }
  }

  // Sets the texts that SentencePiece makes of the tokens.
  void set_pieces(const SentencePieceDecoding &decoding) {
    parts_.is_sentencepiece = true;
    parts_.strips_space = decoding.strips_space;
    parts_.strips_spaces = decoding.strips_spaces;
    parts_.texts = parts_.tokens;
    const std::uint32_t unknown = is_text_ ? spec_.text->unknown_id : NO_ID;
    TextSpaces spaces;
    spaces.are_marks = true;
    std::vector<std::uint8_t> spaced;
    // An added token that the model does not list keeps its marks.
    for (std::size_t i = 0; i < listed_; ++i) {
      const std::uint32_t id = spec_.vocabulary.ids[i];
      const auto *const text = reinterpret_cast<const std::uint8_t *>(texts_[id].data());
      const std::size_t size = texts_[id].size();
      if ((parts_.flags[id] & IdFlag::FALLBACK) != 0 || !TextSpaces::has_mark(text, size))
        continue;
      if (TextSpaces::is_mark(text, size) && id != unknown)
        parts_.flags[id] |= IdFlag::SPACED;
      spaced.clear();
      spaces.append(text, size, spaced);
      parts_.texts[id] = own({spaced.begin(), spaced.end()});
    }
    for (const std::uint32_t id : decoding.invisible) {
      parts_.flags[id] &= static_cast<std::uint8_t>(~IdFlag::SPACED);
      parts_.texts[id] = {};
    }
    if (unknown != NO_ID)
      parts_.texts[unknown] = decoding.unknown_surface;
  }

  std::string_view own(std::string text) { return owned_.emplace_back(std::move(text)); }

  const TokenizerSpec &spec_;
  const std::size_t listed_;
  const NormalizerChain *normalizer_;
  std::optional<NormalizerChain> nfc_; // only if spec.nfc
  const bool is_text_;                 // whether tokens are text
  // By id: the tokens that the model lists, if decoders change them.
  std::vector<std::string_view> texts_;
  std::deque<std::string> owned_; // texts that parts_ views
  DecoderParts parts_;
};

} // namespace

std::unique_ptr<const Decoder> make_decoder(const TokenizerSpec &spec, std::size_t listed,
                                            const NormalizerChain *normalizer) {
  return DecoderMaker(spec, listed, normalizer).make();
}

} // namespace pretok
