// The canonical compositions and decompositions of code points in Unicode 9, the version of NFC
// (nfc.hpp). A composition is a pair of code points that NFC replaces by one code point, their
// composite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

// Returns the composite of two code points, or NOT_COMPOSED.
std::uint32_t composed(std::uint32_t first, std::uint32_t second);
inline constexpr std::uint32_t NOT_COMPOSED = 0xFFFFFFFF;

// Composes each item with the last starter before it, if a composite exists, and if no kept
// item between the two blocks the composition. A kept item blocks the composition if its
// combining class is 0, or is not below that of the later item. `items` are decomposed, with
// marks in order. compose_two(starter, item) returns false if the two have no composite; else
// it makes `starter` the composite, which is a starter too.
template <typename Item, typename ClassOf, typename ComposeTwo>
void compose(std::vector<Item> &items, ClassOf class_of, ComposeTwo compose_two) {
  std::size_t kept = 0;               // number of items kept so far
  std::size_t starter = items.size(); // index of the last starter kept
  std::uint32_t last_class = 0;       // combining class of the last item kept
  for (const Item item : items) {
    const std::uint32_t class_ = class_of(item);
    // If last_class is 0, the last kept item is the starter itself.
    if (starter < kept && (last_class == 0 || last_class < class_) &&
        compose_two(items[starter], item))
      continue;
    if (class_ == 0)
      starter = kept;
    last_class = class_;
    items[kept++] = item;
  }
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(kept), items.end());
}

// Writes the full canonical decomposition of a code point to `parts`, which has room for
// MAX_DECOMPOSITION code points. Returns their number. A code point without a decomposition is
// its own decomposition.
std::size_t decompose(std::uint32_t code_point, std::uint32_t *parts);
// cpp/generate/bpe_tables.py checks this limit.
inline constexpr std::size_t MAX_DECOMPOSITION = 4;

} // namespace pretok
