#include "core/normalize/normalizer_chain.hpp"

#include "core/base/sizes.hpp"
#include "core/normalize/aligned_text.hpp"
#include "core/normalize/character_tables.hpp"
#include "core/normalize/charsmap.hpp"
#include "core/normalize/normalizer_pass.hpp"
#include "core/normalize/text_replacer.hpp"
#include "core/unicode/nfc.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pretok {
namespace {

using ChainKind = NormalizerStep::Kind;

// The maximum number of bytes that these normalizers make of a byte.
constexpr std::size_t FORM_GROWTH = 3;
constexpr std::size_t LOWER_GROWTH = 2;
constexpr std::size_t CHINESE_GROWTH = 2; // a character of three bytes, and two spaces
constexpr std::size_t BYTE_LEVEL_GROWTH = 2;

// Returns the maximum number of bytes that a step makes of a text in which each byte of the
// original text has become `growth` bytes, for each byte of the original text.
std::size_t grown(const NormalizerStep &step, std::size_t growth) {
  const auto times = [&](std::size_t factor) { return saturating_multiply(growth, factor); };
  switch (step.kind) {
  case ChainKind::NFC:
  case ChainKind::NFD:
    return times(FORM_GROWTH);
  case ChainKind::NFKC:
  case ChainKind::NFKD:
    return times(COMPATIBLE_GROWTH);
  case ChainKind::LOWERCASE:
    return times(LOWER_GROWTH);
  case ChainKind::BYTE_LEVEL:
    return times(BYTE_LEVEL_GROWTH);
  case ChainKind::BERT:
    return times(((step.options & NormalizerStep::CHINESE) != 0 ? CHINESE_GROWTH : 1) *
                 (step.strips_accents() ? FORM_GROWTH : 1) *
                 ((step.options & NormalizerStep::LOWER) != 0 ? LOWER_GROWTH : 1));
  case ChainKind::PREPEND: // once, before a text of at least one byte
    return saturating_add(growth, step.replacement.content.size());
  case ChainKind::REPLACE:
  case ChainKind::REPLACE_REGEX:
    return times(TextReplacer(step.replacement).max_growth());
  case ChainKind::PRECOMPILED: {
    Charsmap charsmap(step.charsmap.data(), step.charsmap.size());
    charsmap.find_problem(); // sets max_growth()
    return times(charsmap.max_growth());
  }
  default:
    return growth;
  }
}

} // namespace

NormalizerChain::NormalizerChain(std::vector<NormalizerStep> steps,
                                 std::optional<MetaspaceSpec> metaspace)
    : steps_(std::move(steps)), passes_(NormalizerPass::make(steps_)),
      metaspace_(std::move(metaspace)) {
  for (const NormalizerStep &step : steps_)
    max_growth_ = grown(step, max_growth_);
  if (!metaspace_)
    return;
  const std::size_t mark = metaspace_->replacement.size();
  max_growth_ = saturating_multiply(max_growth_, 2 * std::max<std::size_t>(1, mark));
  if (metaspace_->before)
    before_.emplace(metaspace_->before->stages, metaspace_->before->table);
}

NormalizerChain::~NormalizerChain() = default;

void NormalizerChain::normalize(const std::uint8_t *data, std::size_t size,
                                std::vector<std::uint8_t> &to) const {
  to.clear();
  if (passes_.empty()) {
    to.assign(data, data + size);
    return;
  }
  std::vector<std::uint8_t> before;
  for (const auto &pass : passes_) {
    const bool is_first = &pass == &passes_.front();
    if (!is_first) {
      before.swap(to);
      to.clear();
    }
    pass->run(is_first ? data : before.data(), is_first ? size : before.size(), to);
  }
}

std::string NormalizerChain::normalized(const std::string &text) const {
  std::vector<std::uint8_t> normal;
  normalize(reinterpret_cast<const std::uint8_t *>(text.data()), text.size(), normal);
  return {normal.begin(), normal.end()};
}

std::vector<std::size_t> NormalizerChain::sources(const std::uint8_t *data,
                                                  std::size_t size) const {
  AlignedText text(data, size);
  for (const NormalizerStep &step : steps_)
    text.apply(step);
  return text.byte_sources();
}

void NormalizerChain::apply_metaspace(const std::uint8_t *data, std::size_t size,
                                      const IsFirst &is_first, const OnText &emit) const {
  const std::string &mark = metaspace_->replacement;
  std::vector<std::uint8_t> changed;
  const auto change = [&](std::size_t start, std::size_t end, int) {
    changed.clear();
    for (std::size_t at = start; at < end; ++at)
      if (data[at] == ' ')
        changed.insert(changed.end(), mark.begin(), mark.end());
      else
        changed.push_back(data[at]);
    const bool begins = changed.size() >= mark.size() &&
                        std::memcmp(changed.data(), mark.data(), mark.size()) == 0;
    if (metaspace_->prepend != MetaspaceSpec::Prepend::NEVER && !begins &&
        (metaspace_->prepend == MetaspaceSpec::Prepend::ALWAYS || is_first(start)))
      changed.insert(changed.begin(), mark.begin(), mark.end());
    emit(changed.data(), changed.size());
  };
  if (before_)
    before_->steps(Utf8(data, size, before_->classes()), change);
  else if (size != 0)
    change(0, size, GAP);
}

} // namespace pretok
