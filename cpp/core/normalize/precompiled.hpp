// Applies a charsmap to grapheme clusters, as Hugging Face's library tokenizers does.
// bpe/normalizers/precompiled.py and graphemes.py are the definition; they have the same
// results.
#pragma once

#include "core/base/function_ref.hpp"
#include "core/normalize/charsmap.hpp"
#include "core/normalize/lazy_pages.hpp"
#include "core/normalize/normalizer_pass.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

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

using GraphemePage = std::array<GraphemeKind, CHARACTERS_PER_PAGE>;

class Precompiled final : public NormalizerPass {
public:
  explicit Precompiled(Charsmap charsmap);

  // A byte that is not UTF-8 is a cluster of its own, which is kept. Takes linear time.
  void run(const std::uint8_t *data, std::size_t size, PassResult &result) const override;

private:
  static constexpr std::size_t MAX_CLUSTER = 5; // in bytes; _MAX_CLUSTER in precompiled.py
  static constexpr std::uint8_t NO_BYTE = 0xFF;

  void append_origins_of(const std::uint8_t *data, std::size_t size, Origins &origins) const;
  // Calls visit(start, end, rule) for each part of the cluster at `at`: for the cluster or a
  // character that is replaced by the replacement of `rule`, and for each character that is
  // kept; then rule.size is 0. Returns the end of the cluster.
  using Visit = FunctionRef<void(std::size_t, std::size_t, const Charsmap::Rule &)>;
  std::size_t visit_cluster(const std::uint8_t *data, std::size_t size, std::size_t at,
                            const Visit &visit) const;
  GraphemeKind kind_of(std::uint32_t code_point) const;

  Charsmap charsmap_;
  mutable LazyPages<GraphemePage> kinds_;
  // By byte: the replacement of an ASCII character that is a cluster, if it is an ASCII
  // character; else NO_BYTE. NO_BYTE for CR, which LF may follow.
  std::array<std::uint8_t, 256> ascii_;
};

} // namespace pretok
