#include "core/decode/decoder_flow.hpp"

#include "core/base/count_steps.hpp"
#include "core/decode/held_text.hpp"
#include "core/unicode/byte_level.hpp"
#include "core/unicode/utf8.hpp"
#include "core/unicode/whole_utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace pretok {
namespace {

using DecoderKind = DecoderStep::Kind;
using FlowPointer = std::unique_ptr<DecoderFlow>;

const std::uint8_t *flow_bytes(std::string_view text) {
  return reinterpret_cast<const std::uint8_t *>(text.data());
}

// Returns `text` with each match of `pattern` replaced. An empty pattern matches between all
// characters, and at both ends.
std::string replace_each(std::string_view text, std::string_view pattern,
                         std::string_view content) {
  std::string result;
  std::size_t done = 0;
  if (pattern.empty()) {
    while (done < text.size()) {
      const std::size_t width = decode_utf8(flow_bytes(text) + done, text.size() - done).width;
      result.append(content).append(text.substr(done, width));
      done += width;
    }
    return result.append(content);
  }
  for (std::size_t at; (at = text.find(pattern, done)) != std::string_view::npos;) {
    result.append(text.substr(done, at - done)).append(content);
    done = at + pattern.size();
  }
  return result.append(text.substr(done));
}

// Returns what the option `cleanup` of the library makes of a token.
std::string cleaned_token(std::string token) {
  static constexpr std::string_view CHANGES[][2] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto &[old, content] : CHANGES)
    token = replace_each(token, old, content);
  return token;
}

// Returns the number of bytes at the start, or at the end, of a token that are `character`,
// repeated at most `limit` times.
std::size_t leading(std::string_view token, std::string_view character, std::size_t limit) {
  std::size_t size = 0;
  for (; limit != 0 && token.substr(size, character.size()) == character; --limit)
    size += character.size();
  return size;
}
std::size_t trailing(std::string_view token, std::string_view character, std::size_t limit) {
  std::size_t size = 0;
  for (; limit != 0 && token.size() - size >= character.size() &&
         token.substr(token.size() - size - character.size(), character.size()) == character;
       --limit)
    size += character.size();
  return size;
}

enum class TokenPlace { FIRST, REST, LAST };

// Returns a token as a decoder changes it that treats tokens one by one.
std::string changed_token(const DecoderRule &rule, TokenPlace place, std::string_view token) {
  const DecoderStep &step = rule.step;
  switch (step.kind) {
  case DecoderKind::STRIP: {
    token.remove_prefix(leading(token, step.text, step.start));
    token.remove_suffix(trailing(token, step.text, step.stop));
    return std::string(token);
  }
  case DecoderKind::REPLACE:
    return replace_each(token, step.replacement.pattern, step.replacement.content);
  case DecoderKind::REPLACE_REGEX: {
    std::vector<std::uint8_t> changed;
    PassResult result{changed, nullptr};
    rule.replacer->run(flow_bytes(token), token.size(), result);
    return {changed.begin(), changed.end()};
  }
  case DecoderKind::METASPACE:
    return replace_each(token, step.text,
                        place == TokenPlace::FIRST && step.removes_first ? "" : " ");
  case DecoderKind::BPE:
    return replace_each(token, step.text, place == TokenPlace::LAST ? "" : " ");
  case DecoderKind::SPACES:
    return (place == TokenPlace::FIRST ? "" : " ") + std::string(token);
  case DecoderKind::WORD_PIECE: {
    std::string changed(token);
    if (place != TokenPlace::FIRST) {
      if (token.substr(0, step.text.size()) == step.text)
        changed.erase(0, step.text.size());
      else
        changed.insert(0, " ");
    }
    return step.cleanup ? cleaned_token(std::move(changed)) : changed;
  }
  case DecoderKind::CTC: {
    std::string changed =
        step.text.empty() ? std::string(token) : replace_each(token, step.text, "");
    return step.cleanup ? replace_each(cleaned_token(std::move(changed)), step.delimiter, " ")
                        : changed;
  }
  default:
    return std::string(token);
  }
}

// Returns the byte of a token such as <0x0A>. The library also takes <0x0a> and <0x+A>.
std::optional<char> byte_of_token(std::string_view token) {
  if (token.size() != 6 || token.substr(0, 3) != "<0x" || token[5] != '>')
    return std::nullopt;
  const bool has_sign = token[3] == '+';
  unsigned value = 0;
  for (const char digit : token.substr(has_sign ? 4 : 3, has_sign ? 1 : 2)) {
    const char lower = static_cast<char>(digit | 0x20);
    if (digit >= '0' && digit <= '9')
      value = value * 16 + static_cast<unsigned>(digit - '0');
    else if (lower >= 'a' && lower <= 'f')
      value = value * 16 + static_cast<unsigned>(lower - 'a' + 10);
    else
      return std::nullopt;
  }
  return static_cast<char>(value);
}

// Gives a flow its clone().
template <typename Flow> class Cloned : public DecoderFlow {
public:
  FlowPointer clone() const final {
    return std::make_unique<Flow>(static_cast<const Flow &>(*this));
  }
};

// Changes each token by itself. The first token may be changed in another way.
class EachFlow final : public Cloned<EachFlow> {
public:
  EachFlow(const DecoderRule &rule, bool all_are_first)
      : rule_(&rule), all_are_first_(all_are_first) {}
  void feed(std::string_view token, const Sink &sink) override {
    const std::string changed = changed_token(*rule_, place_, token);
    place_ = all_are_first_ ? TokenPlace::FIRST : TokenPlace::REST;
    sink(changed);
  }
  void finish(const Sink &) override {}

private:
  const DecoderRule *rule_;
  bool all_are_first_;
  TokenPlace place_ = TokenPlace::FIRST;
};

// Changes the last token in another way than all other tokens.
class LastFlow final : public Cloned<LastFlow> {
public:
  explicit LastFlow(const DecoderRule &rule) : rule_(&rule) {}
  void feed(std::string_view token, const Sink &sink) override {
    if (pending_)
      sink(changed_token(*rule_, TokenPlace::REST, *pending_));
    pending_ = token;
  }
  void finish(const Sink &sink) override {
    if (pending_)
      sink(changed_token(*rule_, TokenPlace::LAST, *pending_));
  }

private:
  const DecoderRule *rule_;
  std::optional<std::string> pending_;
};

// Drops each token that equals the previous token, changes all others, drops empty results.
class DistinctFlow final : public Cloned<DistinctFlow> {
public:
  explicit DistinctFlow(const DecoderRule &rule) : rule_(&rule) {}
  void feed(std::string_view token, const Sink &sink) override {
    if (previous_ && *previous_ == token)
      return;
    previous_ = token;
    const std::string changed = changed_token(*rule_, TokenPlace::REST, token);
    if (!changed.empty())
      sink(changed);
  }
  void finish(const Sink &) override {}

private:
  const DecoderRule *rule_;
  std::optional<std::string> previous_;
};

// Joins the parts of one token, and passes the token to another flow at the end.
class HeldFlow final : public DecoderFlow {
public:
  explicit HeldFlow(FlowPointer flow) : flow_(std::move(flow)) {}
  void feed(std::string_view token, const Sink &) override { parts_.append(token); }
  void finish(const Sink &sink) override {
    flow_->feed(parts_.view(), sink);
    flow_->finish(sink);
  }
  FlowPointer clone() const override {
    auto copy = std::make_unique<HeldFlow>(flow_->clone());
    copy->parts_ = parts_;
    return copy;
  }

private:
  FlowPointer flow_;
  HeldText parts_;
};

// Strips the ends of one token that comes in parts.
class StripPartsFlow final : public Cloned<StripPartsFlow> {
public:
  explicit StripPartsFlow(const DecoderStep &step) : step_(&step), start_(step.start) {}
  void feed(std::string_view token, const Sink &sink) override {
    const std::string_view character = step_->text;
    while (start_ != 0 && !token.empty()) {
      if (token.substr(0, character.size()) != character) {
        start_ = 0;
        break;
      }
      token.remove_prefix(character.size());
      --start_;
    }
    std::string text = held_;
    text.append(token);
    const std::size_t kept = text.size() - trailing(text, character, step_->stop);
    held_ = text.substr(kept);
    sink(std::string_view(text).substr(0, kept));
  }
  void finish(const Sink &) override {} // the text that is held back is stripped

private:
  const DecoderStep *step_;
  std::uint32_t start_; // the number of characters that may still be stripped at the start
  std::string held_;
};

// Decodes the bytes that the characters of byte-level tokens stand for.
class BytesFlow final : public Cloned<BytesFlow> {
public:
  explicit BytesFlow(Invalid invalid) : invalid_(invalid) {}
  void feed(std::string_view token, const Sink &sink) override {
    std::vector<std::uint8_t> bytes;
    if (append_bytes(token, bytes))
      held_.append(bytes.begin(), bytes.end());
    else // a character stands for no byte, so the token stands for itself
      held_.append(token);
    std::string text;
    held_.erase(0, append_whole_utf8(held_, invalid_, text));
    sink(text);
  }
  void finish(const Sink &sink) override {
    std::string text = invalid_ == Invalid::KEEP ? held_ : std::string();
    if (invalid_ != Invalid::KEEP)
      append_replacements(held_.empty() ? 0 : 1, text);
    sink(text);
  }

private:
  Invalid invalid_;
  std::string held_; // an incomplete sequence of UTF-8
};

// Decodes each run of adjacent tokens such as <0x0A>.
class FallbackFlow final : public Cloned<FallbackFlow> {
public:
  explicit FallbackFlow(Invalid invalid) : invalid_(invalid) {}
  void feed(std::string_view token, const Sink &sink) override {
    if (const std::optional<char> byte = byte_of_token(token)) {
      run_.append({&*byte, 1});
      return;
    }
    finish(sink);
    sink(token);
  }
  void finish(const Sink &sink) override {
    const HeldText run = std::exchange(run_, {});
    if (run.view().empty())
      return;
    if (invalid_ == Invalid::KEEP || is_utf8(run.view()))
      return sink(run.view());
    std::string mark;
    append_replacements(1, mark);
    for (std::size_t i = 0; i < run.view().size(); ++i)
      sink(mark);
  }

private:
  Invalid invalid_;
  HeldText run_;
};

FlowPointer make_flow(const DecoderRule &rule, Invalid invalid, bool in_parts) {
  const auto held = [in_parts](FlowPointer flow) {
    return in_parts ? std::make_unique<HeldFlow>(std::move(flow)) : std::move(flow);
  };
  const DecoderStep &step = rule.step;
  switch (step.kind) {
  case DecoderKind::BYTE_LEVEL:
    return held(std::make_unique<BytesFlow>(invalid));
  case DecoderKind::BYTE_FALLBACK:
    return held(std::make_unique<FallbackFlow>(invalid));
  case DecoderKind::STRIP:
    if (in_parts)
      return std::make_unique<StripPartsFlow>(step);
    return std::make_unique<EachFlow>(rule, true);
  case DecoderKind::REPLACE: {
    // A match of one character lies within one part. Any other match may cross parts.
    const std::string &pattern = step.replacement.pattern;
    auto flow = std::make_unique<EachFlow>(rule, true);
    if (decode_utf8(flow_bytes(pattern), pattern.size()).width == pattern.size())
      return flow;
    return held(std::move(flow));
  }
  case DecoderKind::REPLACE_REGEX:
    return held(std::make_unique<EachFlow>(rule, true));
  case DecoderKind::METASPACE:
    return std::make_unique<EachFlow>(rule, in_parts);
  case DecoderKind::BPE:
    return held(std::make_unique<LastFlow>(rule));
  case DecoderKind::WORD_PIECE:
    return held(std::make_unique<EachFlow>(rule, false));
  case DecoderKind::CTC:
    return held(std::make_unique<DistinctFlow>(rule));
  default: // SPACES stands alone
    return std::make_unique<EachFlow>(rule, false);
  }
}

} // namespace

DecoderFlows::DecoderFlows(const std::vector<DecoderRule> &rules, bool keeps_invalid) {
  bool in_parts = false;
  for (const DecoderRule &rule : rules) {
    const DecoderKind kind = rule.step.kind;
    const Invalid invalid = keeps_invalid ? Invalid::KEEP : Invalid::ONE_MARK;
    flows_.push_back(make_flow(rule, invalid, in_parts));
    in_parts = in_parts || kind == DecoderKind::BYTE_LEVEL || kind == DecoderKind::FUSE;
  }
}

DecoderFlows::DecoderFlows(const DecoderFlows &other) {
  flows_.reserve(other.flows_.size());
  for (const FlowPointer &flow : other.flows_)
    flows_.push_back(flow->clone());
}

void DecoderFlows::feed(std::size_t index, std::string_view token, std::string &text) {
  count_steps(token.size());
  if (index == flows_.size()) {
    text.append(token);
    return;
  }
  flows_[index]->feed(token, [&](std::string_view part) { feed(index + 1, part, text); });
}

void DecoderFlows::finish(std::string &text) {
  for (std::size_t i = 0; i < flows_.size(); ++i)
    flows_[i]->finish([&](std::string_view part) { feed(i + 1, part, text); });
}

} // namespace pretok
