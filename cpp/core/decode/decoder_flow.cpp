#include "core/decode/decoder_flow.hpp"

#include "core/base/count_steps.hpp"
#include "core/unicode/whole_utf8.hpp"

#include <algorithm>
#include <utility>

namespace pretok {
namespace {

class EachFlow final : public Cloned<EachFlow> {
public:
  EachFlow(const DecoderRule &rule, bool all_are_first)
      : rule_(&rule), all_are_first_(all_are_first) {}
  void feed(std::string_view token, const Sink &sink) override {
    const std::string changed = rule_->step.type->change(*rule_, place_, token);
    place_ = all_are_first_ ? TokenPlace::FIRST : TokenPlace::REST;
    sink(changed);
  }
  void finish(const Sink &) override {}
  void skip_start() override {
    if (!all_are_first_)
      place_ = TokenPlace::REST;
  }
  bool is_idle() const override { return all_are_first_ || place_ == TokenPlace::REST; }

private:
  const DecoderRule *rule_;
  bool all_are_first_;
  TokenPlace place_ = TokenPlace::FIRST;
};

class LastFlow final : public Cloned<LastFlow> {
public:
  explicit LastFlow(const DecoderRule &rule) : rule_(&rule) {}
  void feed(std::string_view token, const Sink &sink) override {
    if (pending_)
      sink(rule_->step.type->change(*rule_, TokenPlace::REST, *pending_));
    pending_ = token;
  }
  void finish(const Sink &sink) override {
    if (pending_)
      sink(rule_->step.type->change(*rule_, TokenPlace::LAST, *pending_));
  }

private:
  const DecoderRule *rule_;
  std::optional<std::string> pending_;
};

class DistinctFlow final : public Cloned<DistinctFlow> {
public:
  explicit DistinctFlow(const DecoderRule &rule) : rule_(&rule) {}
  void feed(std::string_view token, const Sink &sink) override {
    if (previous_ && *previous_ == token)
      return;
    previous_ = token;
    const std::string changed = rule_->step.type->change(*rule_, TokenPlace::REST, token);
    if (!changed.empty())
      sink(changed);
  }
  void finish(const Sink &) override {}

private:
  const DecoderRule *rule_;
  std::optional<std::string> previous_;
};

class HeldFlow final : public DecoderFlow {
public:
  explicit HeldFlow(FlowPointer flow) : flow_(std::move(flow)) {}
  void feed(std::string_view token, const Sink &) override { parts_.append(token); }
  void finish(const Sink &sink) override {
    flow_->feed(parts_, sink);
    flow_->finish(sink);
  }
  FlowPointer clone() const override {
    auto copy = std::make_unique<HeldFlow>(flow_->clone());
    copy->parts_ = parts_;
    return copy;
  }

private:
  FlowPointer flow_;
  std::string parts_;
};

} // namespace

FlowPointer make_each_flow(const DecoderRule &rule, bool all_are_first) {
  return std::make_unique<EachFlow>(rule, all_are_first);
}

FlowPointer make_last_flow(const DecoderRule &rule) { return std::make_unique<LastFlow>(rule); }

FlowPointer make_distinct_flow(const DecoderRule &rule) {
  return std::make_unique<DistinctFlow>(rule);
}

FlowPointer hold_parts(FlowPointer flow, bool in_parts) {
  return in_parts ? std::make_unique<HeldFlow>(std::move(flow)) : std::move(flow);
}

DecoderFlows::DecoderFlows(const std::vector<DecoderRule> &rules, bool keeps_invalid) {
  bool in_parts = false;
  const Invalid invalid = keeps_invalid ? Invalid::KEEP : Invalid::ONE_MARK;
  for (const DecoderRule &rule : rules) {
    flows_.push_back(rule.step.type->make_flow(rule, invalid, in_parts));
    in_parts = in_parts || rule.step.type->joins_tokens;
  }
}

DecoderFlows::DecoderFlows(const DecoderFlows &other) {
  flows_.reserve(other.flows_.size());
  for (const FlowPointer &flow : other.flows_)
    flows_.push_back(flow->clone());
}

void DecoderFlows::skip_start() {
  for (const FlowPointer &flow : flows_)
    flow->skip_start();
}

bool DecoderFlows::is_idle() const {
  return std::all_of(flows_.begin(), flows_.end(),
                     [](const FlowPointer &flow) { return flow->is_idle(); });
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
