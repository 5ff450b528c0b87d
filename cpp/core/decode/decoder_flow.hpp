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
    if (step.replacement.regex)
      replacer.emplace(step.replacement);
  }

  DecoderStep step;
  std::optional<TextReplacer> replacer; // set for a Replace with a regex
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
  // Returns an independent copy.
  virtual std::unique_ptr<DecoderFlow> clone() const = 0;
  // Changes a new flow as if earlier tokens had come before: later ones keep their first space.
  virtual void skip_start() {}
  // Returns whether the state is that of a new flow after skip_start().
  virtual bool is_idle() const { return false; }
};

using FlowPointer = std::unique_ptr<DecoderFlow>;

// Gives a flow its clone().
template <typename Flow> class Cloned : public DecoderFlow {
public:
  FlowPointer clone() const final {
    return std::make_unique<Flow>(static_cast<const Flow &>(*this));
  }
};

// Changes each token by itself. The first token may be changed in another way.
FlowPointer make_each_flow(const DecoderRule &rule, bool all_are_first);
// Changes the last token in another way than all other tokens.
FlowPointer make_last_flow(const DecoderRule &rule);
// Drops each token that equals the previous token, changes all others, drops empty results.
FlowPointer make_distinct_flow(const DecoderRule &rule);
// Joins the parts of one token, and passes the token to `flow` at the end. Returns `flow`
// unless `in_parts`.
FlowPointer hold_parts(FlowPointer flow, bool in_parts);

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

  // See DecoderFlow.
  void skip_start();
  bool is_idle() const;

private:
  void feed(std::size_t index, std::string_view token, std::string &text);

  std::vector<std::unique_ptr<DecoderFlow>> flows_;
};

} // namespace pretok
