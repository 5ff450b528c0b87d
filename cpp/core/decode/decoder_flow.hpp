// Decodes ids by the decoders of a tokenizer.json, one after the other. A decoder takes a list
// of tokens and returns a list; a flow takes the tokens one by one, so that a stream can be
// decoded. bpe/decoders/flows.py explains the flows, and has the same results.
#pragma once

#include "core/base/function_ref.hpp"
#include "core/decode/decoder_step.hpp"
#include "core/normalize/text_replacer.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

// A decoder, ready for use.
struct DecoderRule {
  explicit DecoderRule(DecoderStep decoder) : step(std::move(decoder)) {
    if (step.kind == DecoderStep::Kind::REPLACE_REGEX)
      replacer.emplace(step.replacement);
  }

  DecoderStep step;
  std::optional<TextReplacer> replacer;
};

// The state of one decoder while it decodes one stream of tokens.
class DecoderFlow {
public:
  using Sink = FunctionRef<void(std::string_view)>;

  virtual ~DecoderFlow() = default;
  // Calls sink(token) for each token that `token` completes.
  virtual void feed(std::string_view token, const Sink &sink) = 0;
  // Calls sink(token) for each of the last tokens.
  virtual void finish(const Sink &sink) = 0;
  // Copies the state in constant time. After this, only the copy or this flow may be used.
  virtual std::unique_ptr<DecoderFlow> clone() const = 0;
};

// The flows of all decoders.
class DecoderFlows {
public:
  // `rules` must outlive this object. If `keeps_invalid`, invalid UTF-8 of fallback tokens and
  // of byte-level tokens is kept; if not, it becomes U+FFFD.
  DecoderFlows(const std::vector<DecoderRule> &rules, bool keeps_invalid);
  DecoderFlows(const DecoderFlows &other);
  DecoderFlows(DecoderFlows &&) = default;
  DecoderFlows &operator=(DecoderFlows &&) = default;

  // Appends the text that the token completes.
  void feed(std::string_view token, std::string &text) { feed(0, token, text); }
  // Appends the text that is held back.
  void finish(std::string &text);

private:
  void feed(std::size_t index, std::string_view token, std::string &text);

  std::vector<std::unique_ptr<DecoderFlow>> flows_;
};

} // namespace pretok
