#include "formats/decoder_spec.hpp"

#include "core/encode/text_spaces.hpp"
#include "core/unicode/byte_level.hpp"
#include "formats/character_spec.hpp"

#include <set>
#include <string_view>
#include <utility>

namespace pretok {
namespace {

const std::uint8_t *token_utf8(std::string_view text) {
  return reinterpret_cast<const std::uint8_t *>(text.data());
}

} // namespace

TextTokens text_tokens(const TokenizerSpec &spec, std::size_t file_added) {
  using TextKind = TextTokens::Kind;
  const VocabularyData &data = spec.vocabulary;
  const TextDecoding &decoding = spec.characters->decoding;
  const std::vector<std::string_view> texts = texts_of(spec);
  std::vector<TextTokens::Token> tokens(first_step(spec)); // by id
  std::vector<bool> is_invisible(tokens.size());
  for (std::size_t i = 0; decoding.is_sentencepiece && i < file_added; ++i)
    is_invisible[spec.added[i].id] = spec.added_special[i];
  std::vector<std::uint8_t> bytes = data.bytes;
  // Only the text of the unknown token may be longer than the token. So this capacity is
  // enough, `decoded` never moves, and the views of its parts stay valid.
  std::vector<std::uint8_t> decoded;
  decoded.reserve(bytes.size() + decoding.unknown.size());
  std::size_t start = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    TextTokens::Token &token = tokens[data.ids[i]];
    token.bytes = {bytes.data() + start, data.lengths[i]};
    start += data.lengths[i];
    const std::size_t text_start = decoded.size();
    // Whether the token is in the vocabulary. If not, it is only an added token.
    const bool is_listed = i < data.mergeable + spec.characters->decoded_only;
    const std::optional<std::uint8_t> byte = fallback_byte(texts[i]);
    token.kind = byte ? TextKind::FALLBACK : TextKind::TEXT;
    if (byte) {
      decoded.push_back(*byte);
    } else if (decoding.is_sentencepiece && data.ids[i] == spec.characters->unknown_id) {
      decoded.insert(decoded.end(), decoding.unknown.begin(), decoding.unknown.end());
    } else if (is_invisible[data.ids[i]] && is_listed) {
      // no text
    } else if (!is_listed && decoding.is_sentencepiece) {
      decoded.insert(decoded.end(), texts[i].begin(), texts[i].end());
    } else {
      if (is_listed && TextSpaces::is_mark(token_utf8(texts[i]), texts[i].size()))
        token.kind = TextKind::SPACED;
      TextSpaces spaces;
      spaces.are_marks = true;
      spaces.append(token_utf8(texts[i]), texts[i].size(), decoded);
    }
    token.text = {decoded.data() + text_start,
                  static_cast<std::uint32_t>(decoded.size() - text_start)};
    if (byte)
      token.bytes = token.text;
  }
  return {decoding, std::move(tokens), std::move(bytes), std::move(decoded)};
}

DecoderChain decoder_chain(const TokenizerSpec &spec, const NormalizerChain *normalizer) {
  const VocabularyData &data = spec.vocabulary;
  const std::vector<std::string_view> tokens = texts_of(spec);
  // The spec has byte-level tokens as bytes. The chain decodes the characters that stand for
  // them.
  const bool has_bytes = !spec.characters && !spec.text;
  std::vector<std::string> texts(first_step(spec)); // by id
  for (std::size_t i = 0; i < tokens.size(); ++i)
    texts[data.ids[i]] = has_bytes ? byte_characters(tokens[i]) : std::string(tokens[i]);
  std::set<std::string_view> special;
  for (std::size_t i = 0; i < spec.added.size(); ++i) {
    const AddedToken &token = spec.added[i];
    texts[token.id] = token.normalized && normalizer != nullptr
                          ? normalizer->normalized(token.content)
                          : token.content;
    if (spec.added_special[i])
      special.insert(token.content);
  }
  std::vector<bool> is_skipped(texts.size());
  for (const AddedToken &token : spec.added)
    is_skipped[token.id] = special.count(texts[token.id]) != 0;
  return {*spec.decoder, texts, std::move(is_skipped)};
}

} // namespace pretok
