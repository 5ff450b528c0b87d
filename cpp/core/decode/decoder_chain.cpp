#include "core/decode/decoder_chain.hpp"

#include <string_view>
#include <utility>

namespace pretok {

DecoderChain::DecoderChain(const std::vector<DecoderStep> &steps,
                           const std::vector<std::string> &texts, std::vector<bool> is_skipped)
    : rules_(steps.begin(), steps.end()), is_skipped_(std::move(is_skipped)) {
  for (const std::string &text : texts) {
    starts_.push_back(texts_.size());
    texts_ += text;
  }
  starts_.push_back(texts_.size());
}

void DecoderChain::feed(const std::uint32_t *ids, std::size_t count, bool skip_special,
                        DecoderFlows &flows, std::string &text) const {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t id = ids[i];
    if (!skip_special || !is_skipped_[id])
      flows.feed(std::string_view(texts_).substr(starts_[id], starts_[id + 1] - starts_[id]),
                 text);
  }
}

std::string DecoderChain::decode(const std::uint32_t *ids, std::size_t count,
                                 bool skip_special) const {
  DecoderFlows flows(rules_, true);
  std::string text;
  feed(ids, count, skip_special, flows, text);
  flows.finish(text);
  return text;
}

} // namespace pretok
