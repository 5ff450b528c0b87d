// The passes that do the work of NormalizerChain, each over a whole text.
#pragma once

#include "core/normalize/normalizer_step.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pretok {

// For the first byte of each character of a normalized text: the offset in the original text of
// the character that it comes from, or NO_ORIGIN. For any other byte: any offset in the
// original text.
using Origins = std::vector<std::int64_t>;
// The origin of a character that is inserted before the first character.
inline constexpr std::int64_t NO_ORIGIN = -1;

// The text that a pass writes.
struct PassResult {
  std::vector<std::uint8_t> &bytes;
  Origins *origins; // or nullptr

  // Appends characters that come from the character at `origin`.
  void append(const std::uint8_t *text, std::size_t size, std::size_t origin);
  // Appends data[start..end) of the text itself.
  void keep(const std::uint8_t *data, std::size_t start, std::size_t end);
};

class NormalizerPass {
public:
  virtual ~NormalizerPass() = default;
  // Appends to `result`, which is empty.
  virtual void run(const std::uint8_t *data, std::size_t size, PassResult &result) const = 0;

  // Returns passes that together do what `steps` say.
  static std::vector<std::unique_ptr<const NormalizerPass>>
  make(const std::vector<NormalizerStep> &steps);
};

} // namespace pretok
