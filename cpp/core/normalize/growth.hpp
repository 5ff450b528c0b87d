// Bounds how much a chain of normalizers or decoders grows a text, so that a file cannot choose
// any growth. bpe/normalizers/growth.py has the same bounds, and explains them.
#pragma once

#include "core/base/sizes.hpp"
#include "core/normalize/step_fields.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pretok {

// The maximum number of bytes that normalizers or decoders make of one byte, and that their
// regexes read for one byte.
inline constexpr std::uint64_t MAX_GROWTH = 1024;

// The maximum size of a text after some steps, in bytes for each byte of the original text.
class Growth {
public:
  std::uint64_t bytes() const;

  // Adds a step that makes at most `factor` bytes of one, and repeated no more than that.
  void spell(std::uint64_t factor) { spelled_ = std::max(spelled_, factor); }
  // Adds a step that puts two spaces around each Chinese character.
  void space_chinese() { ++chinese_; }
  // Adds a step that makes at most `factor` bytes of one. `is_stable` says that neither `spell`
  // nor `space_chinese` grows the characters that the step writes.
  void multiply(std::uint64_t factor, bool is_stable);
  // Adds a step that writes `size` bytes once, before a text of at least one byte.
  void add(std::uint64_t size, bool is_stable);

private:
  void write_any();

  std::uint64_t base_ = 1;
  std::uint64_t added_ = 0;
  std::uint64_t spelled_ = 1;
  std::uint64_t chinese_ = 0;
};

// Returns the maximum number of bytes that a Replace makes of one, at least 1.
std::uint64_t replace_factor(const Replacement &replacement);

// Returns "", or a clause that says which limit the growth passes. `read` is the number of
// bytes that regexes read for one byte of a `unit`.
std::string problem_of_growth(const Growth &growth, std::uint64_t read, const char *unit);

// Adds normalizers or decoders to `growth`, until they pass a limit. Returns "", or the
// predicate of a sentence about them. `unit` is what they change: "text" or "token".
template <typename Step>
std::string add_growth(const std::vector<Step> &steps, const char *unit, Growth &growth) {
  std::uint64_t read = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step &step = steps[i];
    read = step.replacement.regex ? saturating_add(read, growth.bytes()) : read;
    if (step.type->grow != nullptr)
      step.type->grow(step, growth);
    const std::string problem = problem_of_growth(growth, read, unit);
    if (!problem.empty())
      return problem + ", at step " + std::to_string(i + 1) + " (" + step.type->name +
             "); expected at most " + std::to_string(MAX_GROWTH);
  }
  return "";
}

} // namespace pretok
