// Replaces the matches of a text or of a regex. Replace in bpe/normalizers/steps.py has the
// same results.
#pragma once

#include "core/base/function_ref.hpp"
#include "core/normalize/normalizer_pass.hpp"
#include "core/normalize/step_fields.hpp"
#include "core/split/pre_tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace pretok {

class TextReplacer final : public NormalizerPass {
public:
  explicit TextReplacer(const Replacement &replacement);

  // Appends the text with its matches replaced. The replacement of a match has the origin of
  // the last character of the match.
  void run(const std::uint8_t *data, std::size_t size, PassResult &result) const override;

private:
  // Calls on_match(start, end) for each match, in order. Takes linear time.
  using OnMatch = FunctionRef<void(std::size_t, std::size_t)>;
  void for_matches(const std::uint8_t *data, std::size_t size, const OnMatch &on_match) const;

  std::string pattern_;
  std::string content_;
  std::optional<PreTokenizer> regex_;
};

} // namespace pretok
