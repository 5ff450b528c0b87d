// The passes that do the work of NormalizerChain, each over a whole text.
#pragma once

#include "core/normalize/normalizer_step.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pretok {

// The effect of a normalizer on each character, whatever its neighbors are.
enum class Spelling : std::uint8_t {
  COMPATIBLE,       // the compatibility decomposition
  LOWER,            // lower case
  STRIP_ACCENTS,    // removes combining marks
  NMT,              // removes controls, and replaces unusual spaces
  CLEAN,            // removes controls, and replaces white space by U+0020
  CHINESE,          // puts spaces around Chinese characters
  STRIP_NONSPACING, // removes nonspacing marks
};

// Appends what `spelling` makes of a character.
void append_spelling(Spelling spelling, std::uint32_t code_point,
                     std::vector<std::uint8_t> &to);

// The part of a text that Strip keeps.
struct Kept {
  std::size_t start;
  std::size_t end;
};
// `options` are those of NormalizerStep.
Kept stripped(const std::uint8_t *data, std::size_t size, std::uint32_t options);

class NormalizerPass {
public:
  virtual ~NormalizerPass() = default;
  // Appends the result to `to`, which is empty.
  virtual void run(const std::uint8_t *data, std::size_t size,
                   std::vector<std::uint8_t> &to) const = 0;

  // Returns passes that together do what `steps` say.
  static std::vector<std::unique_ptr<const NormalizerPass>>
  make(const std::vector<NormalizerStep> &steps);
};

// Returns the spellings of a step that changes each character by itself before, and the
// spellings after its decomposition, if it has one.
struct StepSpellings {
  std::vector<Spelling> before;
  bool decomposes = false; // to NFD
  std::vector<Spelling> after;
};
StepSpellings spellings_of(const NormalizerStep &step);

} // namespace pretok
