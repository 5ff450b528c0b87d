// Applies a charsmap to grapheme clusters, as Hugging Face's library tokenizers does.
// bpe/normalizers/precompiled.py and graphemes.py are the definition; they have the same
// results.
#pragma once

#include "core/normalize/charsmap.hpp"
#include "core/normalize/lazy_pages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pretok {

// The kinds of characters that Unicode Standard Annex 29 distinguishes; Kind in graphemes.py.
enum class GraphemeKind : std::uint8_t {
  OTHER,
  CONTROL,
  CR,
  LF,
  PREPEND,
  EXTEND,
  ZWNJ,
  ZWJ,
  LINKER,
  SPACING_MARK,
  L,
  V,
  T,
  LV,
  LVT,
  CONSONANT,
  PICTOGRAPHIC
};

using GraphemePage = std::array<GraphemeKind, PAGE_SIZE>;

class Precompiled {
public:
  explicit Precompiled(Charsmap charsmap);

  // Appends the result for the clusters from data[at] on to `to`; a cluster must begin at `at`.
  //
  // Returns the position of the first cluster that has a byte that is not UTF-8, or a character
  // whose page has not been stored. This byte or character is at `stopped`. Returns `size` if
  // there is none. Takes linear time.
  std::size_t normalize(const std::uint8_t *data, std::size_t size, std::size_t at,
                        std::vector<std::uint8_t> &to, std::size_t &stopped) const;

  // Stores the kinds of the characters in the page of a code point.
  void store(std::uint32_t code_point, const GraphemePage &kinds);

private:
  static constexpr std::size_t MAX_CLUSTER = 5; // in bytes; _MAX_CLUSTER in precompiled.py
  static constexpr std::uint8_t NO_BYTE = 0xFF;

  // Returns the end of the cluster at `at`. Returns `at` and sets `stopped` if a kind of its
  // characters is unknown.
  std::size_t cluster_end(const std::uint8_t *data, std::size_t size, std::size_t at,
                          std::size_t &first_size, std::size_t &stopped) const;
  // Appends the replacement of a cluster or a character. Returns false if it has none.
  bool replace(const std::uint8_t *part, std::size_t size, std::vector<std::uint8_t> &to) const;

  Charsmap charsmap_;
  LazyPages<GraphemePage> kinds_;
  // By byte: the replacement of an ASCII character that is a cluster, if it is an ASCII
  // character; else NO_BYTE. NO_BYTE for CR, which LF may follow.
  std::array<std::uint8_t, 256> ascii_;
};

} // namespace pretok
