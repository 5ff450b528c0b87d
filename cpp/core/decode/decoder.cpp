#include "core/decode/decoder.hpp"

#include "core/normalize/growth.hpp"
#include "core/unicode/byte_level.hpp"
#include "core/unicode/utf8.hpp"
#include "core/unicode/whole_utf8.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace pretok {
namespace {

// The steps at the start of a chain that change each token independently of the others.
std::size_t count_by_token(const std::vector<DecoderRule> &rules) {
  std::size_t count = 0;
  while (count < rules.size() &&
         (rules[count].step.is("Replace") || rules[count].step.is("Strip")))
    ++count;
  return count;
}

// Returns whether the steps do no more than to change each token by itself, decode bytes, join
// the texts and strip spaces. Changing all tokens takes time and memory in proportion to the
// limits. Published decoders change tokens in one step, and do not grow them.
bool can_join(const std::vector<DecoderRule> &rules) {
  constexpr std::size_t MAX_STEPS = 8;
  constexpr std::uint64_t MAX_TOKEN_GROWTH = 4;
  std::size_t at = count_by_token(rules);
  if (at > MAX_STEPS)
    return false;
  std::vector<DecoderStep> steps;
  for (std::size_t i = 0; i < at; ++i) {
    if (rules[i].replacer)
      return false;
    steps.push_back(rules[i].step);
  }
  Growth growth;
  if (!add_growth(steps, "token", growth).empty() || growth.bytes() > MAX_TOKEN_GROWTH)
    return false;
  const auto is = [&](std::size_t index, std::string_view name) {
    return index < rules.size() && rules[index].step.is(name);
  };
  if (is(at, "ByteLevel"))
    return at + 1 == rules.size();
  at += is(at, "ByteFallback") ? 1 : 0;
  if (!is(at, "Fuse"))
    return at == rules.size();
  return at + 1 == rules.size() ||
         (at + 2 == rules.size() && is(at + 1, "Strip") && rules[at + 1].step.text == " ");
}

} // namespace

Decoder::Decoder(DecoderParts &&parts)
    : rules_(parts.steps.begin(), parts.steps.end()), can_join_(pretok::can_join(rules_)) {
  own_.texts = TokenTexts(parts.texts.empty() ? parts.tokens : parts.texts);
  if (!parts.texts.empty())
    tokens_ = TokenTexts(parts.tokens);
  own_.flags = std::move(parts.flags);
  own_.start = parts.strips_space ? 1 : 0;
  own_.only_spaced = parts.is_sentencepiece;
  own_.strips_again = parts.strips_spaces;
}

const JoinRules *Decoder::join_rules() const {
  if (rules_.empty())
    return &own_;
  if (!can_join_)
    return nullptr;
  return &changed_.get([&] { return std::make_unique<const JoinRules>(changed_texts()); });
}

JoinRules Decoder::changed_texts() const {
  const std::size_t by_token = count_by_token(rules_);
  bool decodes_bytes = false;
  bool decodes_fallback = false;
  JoinRules result;
  result.flags = own_.flags;
  for (std::size_t i = by_token; i < rules_.size(); ++i) {
    const DecoderStep &step = rules_[i].step;
    decodes_bytes = decodes_bytes || step.is("ByteLevel");
    decodes_fallback = decodes_fallback || step.is("ByteFallback");
    if (step.is("Strip")) {
      result.start = step.start;
      result.stop = step.stop;
    }
  }
  std::vector<std::string> changed(own_.texts.size());
  std::vector<std::uint8_t> bytes;
  for (std::size_t id = 0; id < changed.size(); ++id) {
    std::string &text = changed[id];
    text = own_.texts.text(id);
    for (std::size_t i = 0; i < by_token; ++i)
      text = rules_[i].step.type->change(rules_[i], TokenPlace::FIRST, text);
    bytes.clear();
    if (decodes_bytes && append_bytes(text, bytes))
      text.assign(bytes.begin(), bytes.end());
    if (const auto byte = decodes_fallback ? byte_of_token(text) : std::nullopt) {
      text = *byte;
      result.flags[id] |= IdFlag::RUN;
    }
  }
  result.texts = TokenTexts({changed.begin(), changed.end()});
  return result;
}

const Decoder::WholeTexts *Decoder::whole_texts() const {
  const JoinRules *rules = join_rules();
  if (rules == nullptr || rules->stop != 0)
    return nullptr;
  return &whole_.get([&] {
    auto made = std::make_unique<WholeTexts>();
    made->texts = rules->texts.view();
    made->is_whole.resize(rules->texts.size());
    made->is_skipped.resize(rules->texts.size());
    const std::uint8_t part = rules_.empty() ? IdFlag::FALLBACK : IdFlag::RUN;
    for (std::size_t id = 0; id < made->is_whole.size(); ++id) {
      made->is_whole[id] = (rules->flags[id] & (part | IdFlag::TOKEN)) == IdFlag::TOKEN &&
                           is_utf8(rules->texts.text(id));
      made->is_skipped[id] = (rules->flags[id] & IdFlag::SKIPPED) != 0;
    }
    return made;
  });
}

const TokenTexts &Decoder::rendered() const {
  if (rules_.empty())
    return own_.texts;
  return rendered_.get([&] { return std::make_unique<const TokenTexts>(rendered_texts()); });
}

// Applies each step as to a token between others. After the tokens are joined, a step treats
// all text as one token; its ends are then elsewhere. bpe/decoders/rendered.py does the same.
TokenTexts Decoder::rendered_texts() const {
  std::vector<std::string> changed(own_.texts.size());
  for (std::size_t id = 0; id < changed.size(); ++id) {
    std::string &text = changed[id];
    text = own_.texts.text(id);
    bool in_parts = false;
    for (const DecoderRule &rule : rules_) {
      const bool is_last = rule.step.is("BPEDecoder");
      if (rule.step.is("ByteLevel")) {
        std::vector<std::uint8_t> bytes;
        if (append_bytes(text, bytes))
          text.assign(bytes.begin(), bytes.end());
      } else if (rule.step.is("ByteFallback")) {
        if (const auto byte = byte_of_token(text))
          text = *byte;
      } else if (!(in_parts && rule.step.is("Strip"))) {
        const TokenPlace place = !in_parts ? TokenPlace::REST
                                 : is_last ? TokenPlace::LAST
                                           : TokenPlace::FIRST;
        text = rule.step.type->change(rule, place, text);
      }
      in_parts = in_parts || rule.step.type->joins_tokens;
    }
  }
  return TokenTexts({changed.begin(), changed.end()});
}

std::string Decoder::decode(const std::uint32_t *ids, std::size_t count, bool skip_special,
                            bool keeps_invalid) const {
  DecodeStream stream(*this, skip_special, keeps_invalid);
  std::string text;
  stream.feed(ids, count, text);
  stream.finish(text);
  return text;
}

DecodeStream::DecodeStream(const Decoder &decoder, bool skip_special, bool keeps_invalid,
                           bool continuation)
    : decoder_(&decoder), skip_special_(skip_special),
      invalid_(keeps_invalid                ? Invalid::KEEP
               : decoder.is_sentencepiece() ? Invalid::MARK_PER_BYTE
                                            : Invalid::ONE_MARK),
      at_start_(decoder.own_.start != 0 && !continuation) {
  if (!decoder.rules_.empty()) {
    flows_.emplace(decoder.rules_, keeps_invalid);
    if (continuation)
      flows_->skip_start();
  }
  is_idle_ = has_no_state();
}

void DecodeStream::feed(const std::uint32_t *ids, std::size_t count, std::string &text) {
  const TokenTexts &texts = decoder_->own_.texts;
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    if (skip_special_ && decoder_->has(ids[i], IdFlag::SKIPPED))
      continue;
    if (flows_)
      flows_->feed(texts.text(ids[i]), text);
    else if (decoder_->is_sentencepiece())
      add_piece(ids[i], text);
    else
      bytes += texts.text(ids[i]);
  }
  add_bytes(bytes, text);
  is_idle_ = has_no_state();
}

void DecodeStream::finish(std::string &text) {
  if (flows_)
    flows_->finish(text);
  else
    finish_bytes(text);
}

void DecodeStream::add_piece(std::uint32_t id, std::string &text) {
  std::string_view more = decoder_->own_.texts.text(id);
  if (decoder_->is_fallback(id)) {
    at_start_ = false;
    return add_bytes(more, text);
  }
  finish_bytes(text);
  if (at_start_ && !more.empty()) {
    at_start_ = false;
    if (decoder_->has(id, IdFlag::SPACED)) {
      more.remove_prefix(1);
      at_start_ = more.empty() && decoder_->own_.strips_again;
    }
  }
  text += more;
}

void DecodeStream::add_bytes(std::string_view more, std::string &text) {
  if (more.empty())
    return;
  std::string joined;
  if (held_size_ != 0) {
    joined.assign(held_.data(), held_size_);
    more = joined.append(more);
  }
  more.remove_prefix(append_whole_utf8(more, invalid_, text));
  held_size_ = static_cast<std::uint8_t>(more.size());
  std::copy(more.begin(), more.end(), held_.begin());
}

void DecodeStream::finish_bytes(std::string &text) {
  const std::string_view rest(held_.data(), held_size_);
  if (invalid_ == Invalid::KEEP)
    text += rest;
  else if (!rest.empty())
    append_replacements(invalid_ == Invalid::MARK_PER_BYTE ? rest.size() : 1, text);
  held_size_ = 0;
}

} // namespace pretok
