// Makes the passes of a NormalizerChain.
#pragma once

#include "core/normalize/character_map.hpp"
#include "core/normalize/normalizer_pass.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace pretok {

using NormalizerPasses = std::vector<std::unique_ptr<const NormalizerPass>>;

// Adjacent spellings become one pass, a CharacterMap.
class PassMaker {
public:
  // Add a pass. Each applies to the result of the pass before.
  void spell(Spelling spelling) { spellings_.push_back(spelling); }
  template <typename Pass, typename... Arguments> void add(Arguments &&...arguments) {
    finish_map();
    passes_.push_back(std::make_unique<Pass>(std::forward<Arguments>(arguments)...));
  }
  void add_form(bool composes, bool is_compatible);

  // Returns the passes. This object must not be used any more.
  NormalizerPasses finish();

private:
  void finish_map();
  void add_map(CharacterMap &map, std::size_t spelling_count);

  std::vector<Spelling> spellings_; // of the next CharacterMap
  NormalizerPasses passes_;
  std::vector<CharacterMap *> maps_; // of the passes
  std::size_t spelling_count_ = 0;   // in all maps
};

} // namespace pretok
