// Bounds how much a chain of normalizers or decoders grows a text, so that a file cannot choose
// any growth. bpe/normalizers/growth.py has the same bounds, and explains them.
#pragma once

#include "core/base/sizes.hpp"
#include "core/normalize/normalizer_step.hpp"

#include <algorithm>
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

// Checks the steps of a chain one by one.
class GrowthCheck {
public:
  // `unit` is what the steps change: "text" or "token".
  explicit GrowthCheck(const char *unit) : unit_(unit) {}

  // Adds a step with add(growth). Returns "", or a clause that says which limit it passes.
  template <typename Add> std::string next(const char *name, bool has_regex, Add add) {
    ++place_;
    read_ = has_regex ? saturating_add(read_, growth_.bytes()) : read_;
    add(growth_);
    return problem(name);
  }
  const Growth &growth() const { return growth_; }

private:
  std::string problem(const char *name) const;

  const char *unit_;
  Growth growth_;
  std::uint64_t read_ = 0;
  std::size_t place_ = 0;
};

// Returns "", or the predicate of a sentence about normalizers that grow a text too much.
std::string problem_of_growth(const std::vector<NormalizerStep> &steps);
// Returns the maximum number of bytes that normalizers make of one byte.
std::uint64_t growth_of(const std::vector<NormalizerStep> &steps);

} // namespace pretok
