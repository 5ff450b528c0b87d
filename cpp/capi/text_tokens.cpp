#include "capi/text_tokens.hpp"

#include "core/encode/text_spaces.hpp"
#include "formats/character_spec.hpp"

#include <algorithm>
#include <string_view>

namespace pretok {
namespace {

const std::uint8_t *token_utf8(std::string_view text) {
  return reinterpret_cast<const std::uint8_t *>(text.data());
}

} // namespace

TextTokens::TextTokens(const TokenizerSpec &spec, std::size_t file_added)
    : decoding_(spec.characters->decoding), tokens_(first_step(spec)) {
  const VocabularyData &data = spec.vocabulary;
  const std::vector<std::string_view> texts = texts_of(spec);
  std::vector<bool> is_invisible(tokens_.size());
  for (std::size_t i = 0; decoding_.is_sentencepiece && i < file_added; ++i)
    is_invisible[spec.added[i].id] = spec.added_special[i];
  bytes_ = data.bytes;
  // Only the text of the unknown token may be longer than the token. So this capacity is
  // enough, texts_ never moves, and the views of its parts stay valid.
  texts_.reserve(bytes_.size() + decoding_.unknown.size());
  std::size_t start = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Token &token = tokens_[data.ids[i]];
    token.bytes = {bytes_.data() + start, data.lengths[i]};
    start += data.lengths[i];
    const std::size_t text_start = texts_.size();
    // If false, the token is only an added token.
    const bool is_listed = i < data.mergeable + spec.characters->decoded_only;
    const std::optional<std::uint8_t> byte = fallback_byte(texts[i]);
    token.kind = byte ? Kind::FALLBACK : Kind::TEXT;
    if (byte) {
      texts_.push_back(*byte);
    } else if (decoding_.is_sentencepiece && data.ids[i] == spec.characters->unknown_id) {
      texts_.insert(texts_.end(), decoding_.unknown.begin(), decoding_.unknown.end());
    } else if (is_invisible[data.ids[i]] && is_listed) {
      // no text
    } else if (!is_listed && decoding_.is_sentencepiece) {
      texts_.insert(texts_.end(), texts[i].begin(), texts[i].end());
    } else {
      if (is_listed && TextSpaces::is_mark(token_utf8(texts[i]), texts[i].size()))
        token.kind = Kind::SPACED;
      TextSpaces spaces;
      spaces.are_marks = true;
      spaces.append(token_utf8(texts[i]), texts[i].size(), texts_);
    }
    token.text = {texts_.data() + text_start,
                  static_cast<std::uint32_t>(texts_.size() - text_start)};
    if (byte)
      token.bytes = token.text;
  }
}

} // namespace pretok
