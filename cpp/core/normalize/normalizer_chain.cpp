#include "core/normalize/normalizer_chain.hpp"

#include "core/base/count_steps.hpp"
#include "core/base/sizes.hpp"
#include "core/normalize/growth.hpp"
#include "core/unicode/utf8.hpp"
#include "core/unicode/utf8_check.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace pretok {

namespace {

// Returns the maximum number of bytes that normalizers make of one byte.
std::uint64_t growth_of(const std::vector<NormalizerStep> &steps) {
  Growth growth;
  add_growth(steps, "text", growth);
  return growth.bytes();
}

NormalizerPasses passes_of(const std::vector<NormalizerStep> &steps) {
  PassMaker maker;
  for (const NormalizerStep &step : steps)
    step.type->add_passes(step, maker);
  return maker.finish();
}

} // namespace

NormalizerChain::NormalizerChain(std::vector<NormalizerStep> steps,
                                 std::optional<MetaspaceSpec> metaspace)
    : steps_(std::move(steps)), passes_(passes_of(steps_)), metaspace_(std::move(metaspace)),
      max_growth_(static_cast<std::size_t>(std::min<std::uint64_t>(
          growth_of(steps_), std::numeric_limits<std::size_t>::max()))) {
  std::vector<NormalizerStep> others;
  for (const NormalizerStep &step : steps_)
    if (!step.is("Prepend"))
      others.push_back(step);
  if (others.size() < steps_.size())
    continuing_ = std::make_unique<NormalizerChain>(std::move(others), std::nullopt);
  if (!metaspace_)
    return;
  // Metaspace makes one mark of a space, or puts one mark before a piece of another byte.
  max_growth_ = saturating_multiply(max_growth_, metaspace_->replacement.size() + 1);
  if (metaspace_->before)
    before_.emplace(metaspace_->before->stages, metaspace_->before->table);
}

void NormalizerChain::run(const std::uint8_t *data, std::size_t size,
                          PassResult &result) const {
  std::vector<std::uint8_t> replaced;
  std::vector<std::uint8_t> invalid;
  // One pass alone cannot read bytes that it joins.
  if ((passes_.size() < 2 && result.origins == nullptr) || is_utf8(data, size)) {
    run_passes(data, size, result);
  } else {
    replaced.assign(data, data + size);
    invalid = replace_invalid(replaced);
    result.invalid = &invalid;
    run_passes(replaced.data(), size, result);
  }
  for (std::size_t at = 0; result.origins != nullptr && at < result.bytes.size(); ++at)
    if (is_tail(result.bytes[at]))
      (*result.origins)[at] = SAME_ORIGIN;
  if (invalid.empty())
    return;
  auto value = invalid.begin();
  for (std::uint8_t &byte : result.bytes)
    if (byte == INVALID_BYTE)
      byte = *value++;
}

void NormalizerChain::run_passes(const std::uint8_t *data, std::size_t size,
                                 PassResult &result) const {
  if (passes_.empty())
    return result.keep(data, 0, size);
  std::vector<std::uint8_t> before; // the text, and its origins, before a pass
  Origins before_origins;
  for (const auto &pass : passes_) {
    const bool is_first = &pass == &passes_.front();
    if (!is_first) {
      before.swap(result.bytes);
      result.bytes.clear();
    }
    if (!is_first && result.origins != nullptr) {
      before_origins.swap(*result.origins);
      result.origins->clear();
    }
    pass->run(is_first ? data : before.data(), is_first ? size : before.size(), result);
    if (!is_first && result.origins != nullptr)
      for (std::int64_t &origin : *result.origins)
        origin =
            origin == NO_ORIGIN ? origin : before_origins[static_cast<std::size_t>(origin)];
    count_steps(result.bytes.size());
  }
}

void NormalizerChain::normalize(const std::uint8_t *data, std::size_t size,
                                std::vector<std::uint8_t> &to) const {
  to.clear();
  PassResult result{to, nullptr};
  run(data, size, result);
}

void NormalizerChain::align(const std::uint8_t *data, std::size_t size,
                            std::vector<std::uint8_t> &to, Origins &origins) const {
  to.clear();
  origins.clear();
  PassResult result{to, &origins};
  run(data, size, result);
}

std::string NormalizerChain::normalized(const std::string &text) const {
  std::vector<std::uint8_t> normal;
  normalize(reinterpret_cast<const std::uint8_t *>(text.data()), text.size(), normal);
  return {normal.begin(), normal.end()};
}

std::string NormalizerChain::problem_of_contents(const std::vector<std::string> &texts) const {
  constexpr std::uint64_t MAX_CONTENT = std::uint64_t{1} << 24;
  const std::uint64_t growth = growth_of(steps_);
  const std::string *longest = nullptr;
  std::uint64_t total = 0;
  for (const std::string &text : texts) {
    total += text.size();
    if (longest == nullptr || text.size() > longest->size())
      longest = &text;
  }
  if (longest == nullptr || total * growth * steps_.size() <= MAX_CONTENT)
    return "";
  if (longest->size() * growth > MAX_CONTENT)
    return "the normalizers may make " + std::to_string(longest->size() * growth) +
           " bytes of an added token; expected at most " + std::to_string(MAX_CONTENT);
  const auto count_in = [](const std::vector<std::uint8_t> &text) {
    return static_cast<std::uint64_t>(std::count_if(
        text.begin(), text.end(), [](std::uint8_t byte) { return !is_tail(byte); }));
  };
  std::vector<std::unique_ptr<const NormalizerChain>> chains; // one for each step
  for (const NormalizerStep &step : steps_)
    chains.push_back(std::make_unique<NormalizerChain>(std::vector{step}, std::nullopt));
  std::vector<std::vector<std::uint8_t>> contents;
  std::uint64_t count = 0;
  for (const std::string &text : texts)
    count += count_in(contents.emplace_back(text.begin(), text.end()));
  const std::uint64_t limit = std::max(MAX_CONTENT, 64 * count);
  std::uint64_t written = 0;
  std::vector<std::uint8_t> before;
  for (std::vector<std::uint8_t> &text : contents)
    for (const auto &chain : chains) {
      before.swap(text);
      chain->normalize(before.data(), before.size(), text);
      written += count_in(text);
      if (written > limit)
        return "normalizing the added tokens takes too long; expected fewer normalizers, or "
               "added tokens with the flag `normalized` set to false";
    }
  return "";
}

void NormalizerChain::apply_metaspace(const std::uint8_t *data, std::size_t size,
                                      const TakesPrefix &takes_prefix,
                                      const OnText &emit) const {
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
    if (!begins && takes_prefix(start))
      changed.insert(changed.begin(), mark.begin(), mark.end());
    emit(changed.data(), changed.size(), start, end);
  };
  if (before_)
    before_->steps(Utf8(data, size, before_->classes()), change);
  else if (size != 0)
    change(0, size, GAP);
}

} // namespace pretok
