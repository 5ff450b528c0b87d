#include "core/decode/decoder.hpp"

#include "core/unicode/whole_utf8.hpp"

#include <string_view>

namespace pretok {
namespace {

std::string_view view_of(TokenView token) {
  return {reinterpret_cast<const char *>(token.bytes), token.size};
}

} // namespace

DecodeStream::DecodeStream(const Decoder &decoder, bool skip_special)
    : decoder_(&decoder), skip_special_(skip_special) {
  if (decoder.chain_)
    flows_.emplace(decoder.chain_->rules(), false);
  else if (decoder.texts_)
    start_.emplace(decoder.texts_->decoding());
}

void DecodeStream::feed(const std::uint32_t *ids, std::size_t count, std::string &text) {
  if (flows_)
    return decoder_->chain_->feed(ids, count, skip_special_, *flows_, text);
  std::string bytes;
  if (!start_)
    bytes = held_.view();
  for (std::size_t i = 0; i < count; ++i) {
    if (skip_special_ && decoder_->is_special(ids[i]))
      continue;
    if (start_)
      add(decoder_->texts_->token(ids[i]), text);
    else
      bytes += view_of(decoder_->vocabulary_->token(ids[i]));
  }
  if (start_)
    return;
  bytes.erase(0, append_whole_utf8(bytes, Invalid::ONE_MARK, text));
  held_.clear();
  held_.append(bytes);
}

void DecodeStream::finish(std::string &text) {
  if (flows_)
    flows_->finish(text);
  else if (start_)
    finish_run(text);
  else if (!held_.view().empty())
    append_replacements(1, text);
}

// Appends the text of a token, or holds it back, if it may be a part of a character.
void DecodeStream::add(const TextTokens::Token &token, std::string &text) {
  if (token.kind != TextTokens::Kind::FALLBACK) {
    finish_run(text);
    return append(token.kind, token.text, text);
  }
  held_.append(view_of(token.text));
  if (!decoder_->texts_->decoding().is_sentencepiece)
    return;
  start_->strip(token.kind, token.text); // from here on, strip() removes no spaces
  std::string bytes(held_.view());
  bytes.erase(0, append_whole_utf8(bytes, Invalid::MARK_PER_BYTE, text));
  held_.clear();
  held_.append(bytes);
}

// Appends the text of a run of fallback tokens. If it is not UTF-8, appends one U+FFFD per
// byte. For SentencePiece, the run is empty or an incomplete sequence, because add() has
// decoded all other bytes.
void DecodeStream::finish_run(std::string &text) {
  const HeldText run = held_;
  held_.clear();
  std::string marks;
  if (decoder_->texts_->decoding().is_sentencepiece || !is_utf8(run.view()))
    append_replacements(run.view().size(), marks);
  const std::string_view all = marks.empty() ? run.view() : marks;
  append(TextTokens::Kind::FALLBACK,
         {reinterpret_cast<const std::uint8_t *>(all.data()),
          static_cast<std::uint32_t>(all.size())},
         text);
}

// Appends `more`, the text of a token, without the spaces that are stripped.
void DecodeStream::append(TextTokens::Kind kind, TokenView more, std::string &text) {
  text += view_of(start_->strip(kind, more));
}

} // namespace pretok
