#include "capi/decoder_chain.hpp"

#include "core/unicode/byte_level.hpp"
#include "formats/character_spec.hpp"

#include <set>
#include <string_view>

namespace pretok {

DecoderChain::DecoderChain(const TokenizerSpec &spec, const NormalizerChain *normalizer) {
  rules_.reserve(spec.decoder->size());
  for (const DecoderStep &step : *spec.decoder)
    rules_.emplace_back(step);
  const VocabularyData &data = spec.vocabulary;
  const std::vector<std::string_view> tokens = texts_of(spec);
  // The characters of byte-level tokens stand for bytes. The spec has the bytes.
  const bool has_bytes = !spec.characters && !spec.text;
  std::vector<std::string> texts(first_step(spec));
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
  is_skipped_.resize(texts.size());
  for (const AddedToken &token : spec.added)
    is_skipped_[token.id] = special.count(texts[token.id]) != 0;
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
