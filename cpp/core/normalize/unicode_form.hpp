// The normal forms NFC, NFD, NFKC and NFKD as passes of a NormalizerChain.
#pragma once

#include "core/normalize/character_map.hpp"
#include "core/normalize/normalizer_pass.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pretok {

class UnicodeForm final : public NormalizerPass {
public:
  UnicodeForm(bool composes, bool is_compatible);

  // Returns the map of compatibility decompositions, or nullptr.
  CharacterMap *map() { return compatible_ ? &*compatible_ : nullptr; }

  void run(const std::uint8_t *data, std::size_t size, PassResult &result) const override;

private:
  using Changes = std::vector<Change>;

  // Returns the decomposition of a text, with marks in canonical order. Appends the offsets of
  // its characters to `starts`.
  Changes decomposed(const std::uint8_t *data, std::size_t size,
                     std::vector<std::size_t> &starts) const;

  bool composes_;
  std::optional<CharacterMap> compatible_; // set for NFKC and NFKD
};

} // namespace pretok
