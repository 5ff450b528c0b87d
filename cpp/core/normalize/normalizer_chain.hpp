// The normalizers of a tokenizer.json, each applied to the result of the one before it.
// NormalizerChain of bpe/normalizers/chain.py has the same results.
#pragma once

#include "core/base/function_ref.hpp"
#include "core/normalize/normalizer_step.hpp"
#include "core/normalize/pass_maker.hpp"
#include "core/split/pre_tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pretok {

// Threads may share a NormalizerChain.
class NormalizerChain {
public:
  // The charsmaps must be valid (Charsmap::find_problem), and the growth of the steps small
  // (growth.hpp).
  NormalizerChain(std::vector<NormalizerStep> steps, std::optional<MetaspaceSpec> metaspace);
  NormalizerChain(const NormalizerChain &) = delete;
  NormalizerChain &operator=(const NormalizerChain &) = delete;

  // Sets `to` to the normalized text, without Metaspace. A byte that is not UTF-8 is kept; it
  // is a character of its own. Takes linear time, and n log n for n marks in a row.
  void normalize(const std::uint8_t *data, std::size_t size,
                 std::vector<std::uint8_t> &to) const;
  std::string normalized(const std::string &text) const;

  // Returns "", or the error if normalizing `texts`, which a file chooses, takes too long.
  // NormalizerChain.check_contents of bpe/normalizers/chain.py explains the limits.
  std::string problem_of_contents(const std::vector<std::string> &texts) const;

  // Does the same, and sets `origins` to the origins of the bytes.
  void align(const std::uint8_t *data, std::size_t size, std::vector<std::uint8_t> &to,
             Origins &origins) const;

  // Returns the chain for a text that continues another text: it has no Prepend.
  const NormalizerChain &continuing() const {
    return continuing_ != nullptr ? *continuing_ : *this;
  }

  bool has_metaspace() const { return metaspace_.has_value(); }
  // Calls emit(changed, changed_size, start, end) for each piece data[start..end) of a
  // normalized text between two added tokens, as Metaspace changes it. takes_prefix(start) says
  // whether a piece takes the prefix of Metaspace. Call it only if has_metaspace().
  using OnText = FunctionRef<void(const std::uint8_t *, std::size_t, std::size_t, std::size_t)>;
  using TakesPrefix = FunctionRef<bool(std::size_t)>;
  void apply_metaspace(const std::uint8_t *data, std::size_t size,
                       const TakesPrefix &takes_prefix, const OnText &emit) const;

  // Returns which pieces take the prefix of Metaspace.
  PrependScheme prepend() const { return metaspace_->prepend; }
  // Returns the number of bytes that Metaspace makes of a space.
  std::size_t mark_size() const { return metaspace_->replacement.size(); }

  // Returns the maximum number of bytes, after Metaspace, for each byte of a text.
  std::size_t max_growth() const { return max_growth_; }

private:
  void run(const std::uint8_t *data, std::size_t size, PassResult &result) const;
  // Does the same for a text without bytes that are not UTF-8, or with their replacements.
  void run_passes(const std::uint8_t *data, std::size_t size, PassResult &result) const;

  std::vector<NormalizerStep> steps_;
  NormalizerPasses passes_; // they do what steps_ say
  std::optional<MetaspaceSpec> metaspace_;
  std::optional<PreTokenizer> before_;                // of metaspace_
  std::unique_ptr<const NormalizerChain> continuing_; // nullptr if steps_ have no Prepend
  std::size_t max_growth_;
};

} // namespace pretok
