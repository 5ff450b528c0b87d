#include "core/decode/decoder.hpp"

#include "core/decode/decode_stream.hpp"
#include "core/normalize/growth.hpp"
#include "core/unicode/byte_level.hpp"
#include "core/unicode/utf8.hpp"

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
  own_.are_bytes = joins_bytes();
  if (parts.is_sentencepiece)
    for (std::uint8_t &flags : own_.flags)
      flags |= (flags & IdFlag::FALLBACK) != 0 ? IdFlag::RUN : 0;
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
  JoinRules result;
  result.flags = own_.flags;
  for (std::size_t i = by_token; i < rules_.size(); ++i) {
    const DecoderStep &step = rules_[i].step;
    result.are_bytes = result.are_bytes || step.is("ByteLevel");
    result.has_runs = result.has_runs || step.is("ByteFallback");
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
    if (result.are_bytes && append_bytes(text, bytes))
      text.assign(bytes.begin(), bytes.end());
    if (const auto byte = result.has_runs ? byte_of_token(text) : std::nullopt) {
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
    for (std::size_t id = 0; id < made->is_whole.size(); ++id) {
      made->is_whole[id] =
          (rules->flags[id] & (IdFlag::RUN | IdFlag::TOKEN)) == IdFlag::TOKEN &&
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
    if (token(static_cast<std::uint32_t>(id)).bytes == nullptr)
      continue; // a step may put a space at the end of each token, but this id has none
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

} // namespace pretok
