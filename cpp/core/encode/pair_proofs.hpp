// Says for two neighbors of a text whether a cut between them is proven.
// bpe/budgets/proofs.py does the same in Python, and bpe/budgets/cuts.py says what a cut is.
#pragma once

#include "core/bpe/pair_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace pretok {

// At a JOINT, a text may be cut if a token of the text ends there. UNKNOWN is only in tables.
enum class Proof : std::uint8_t { NONE = 0, CUT = 1, UNKNOWN = 2, JOINT = 3 };

class PairProofs {
public:
  static constexpr std::size_t CODE_POINTS = 0x110000;

  // The kinds of characters of a split. `of` has the kind of each code point, and
  // table[a * count + b] the Proof of two kinds below `count`. find(a, b) returns the Proof of
  // an UNKNOWN entry, and stores it. `of` and `table` must outlive this object.
  struct Kinds {
    const std::uint16_t *of = nullptr;
    const std::uint8_t *table = nullptr;
    std::size_t count = 0;
    std::function<Proof(std::size_t, std::size_t)> find;
  };

  explicit PairProofs(Kinds kinds) : kinds_(std::move(kinds)) {}

  // A cut is proven between two characters that are not in `joined`, where U+2581 stands for a
  // space; `joined` are joints. Nothing is proven beside the code points `spaces`, which
  // ascend.
  PairProofs(const std::vector<std::pair<std::uint32_t, std::uint32_t>> &joined,
             std::vector<std::uint32_t> spaces)
      : spaces_(std::move(spaces)) {
    joined_.reset(joined.size());
    for (const auto &[before, after] : joined)
      joined_.insert(before, after, Merged{0, 0});
  }

  Proof between(std::uint32_t before, std::uint32_t after) const {
    if (kinds_.of != nullptr) {
      const std::size_t a = kinds_.of[before];
      const std::size_t b = kinds_.of[after];
      const auto known = static_cast<Proof>(kinds_.table[a * kinds_.count + b]);
      return known != Proof::UNKNOWN ? known : kinds_.find(a, b);
    }
    if (!spaces_.empty() && (is_space(before) || is_space(after)))
      return Proof::NONE;
    return joined_.find(marked(before), marked(after)).rank == NO_RANK ? Proof::CUT
                                                                       : Proof::JOINT;
  }

private:
  bool is_space(std::uint32_t code_point) const {
    return std::binary_search(spaces_.begin(), spaces_.end(), code_point);
  }
  static std::uint32_t marked(std::uint32_t code_point) {
    return code_point == ' ' ? 0x2581 : code_point;
  }

  Kinds kinds_;
  PairTable joined_;
  std::vector<std::uint32_t> spaces_;
};

} // namespace pretok
