// Finds the longest parts of a text that have at most a number of ids.
//
// bpe/budgets/search.py does the same in Python, and explains why the parts are the longest;
// bpe/budgets/source.py and borders.py explain cuts and borders. The functions have the names
// that they have there.
#pragma once

#include "core/encode/encoder.hpp"
#include "core/encode/pair_proofs.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace pretok {

// Says at which places a part may end: at ends of ids, at the listed places, before the first
// of some spaces, after lines, after lines and sentences, between two pre-tokens, or between
// two characters.
enum class BorderKind { TOKENS, PLACES, SPACES, LINES, SENTENCES, PRE_TOKENS, CHARACTERS };

// The kinds of characters at the ends of sentences. bpe/budgets/borders.py explains them.
namespace sentence {
enum Kind : std::uint8_t { STOP = 1, WIDE_STOP = 2, CLOSER = 4, SPACE = 8 };
constexpr std::size_t CODE_POINTS = std::size_t{1} << 16; // all others have no kind
constexpr int MAX_CLOSERS = 8;
} // namespace sentence

struct ChunkText {
  const std::uint8_t *data = nullptr; // valid UTF-8
  std::size_t size = 0;
  // The ascending ends of all ids in bytes. Each id stands for the bytes up to its end.
  const std::int32_t *ends = nullptr;
  std::size_t count = 0;
  // Each is nullptr or has size + 1 bytes: true where no cut is proven, and where the text may
  // be divided. Without `allowed`, it may be divided between any two characters.
  const std::uint8_t *blocked = nullptr;
  const std::uint8_t *allowed = nullptr;
  bool is_normal = true;    // false: cuts are proven only between ASCII characters
  bool puts_prefix = false; // a text may get a prefix that a continuation does not get
  std::size_t longest = 0;  // the maximal number of bytes of an id; 0: unknown
};

// Not thread-safe. All members of `text` must outlive it.
class ChunkSearch {
public:
  using Place = std::int64_t; // in bytes

  struct Part {
    Place end;
    std::size_t size; // in ids
  };

  // Returns the number of ids of data[start..end). If the argument is LATER, the ids are those
  // of a continuation.
  using Count = std::function<std::size_t(std::size_t, std::size_t, Encoder::Part)>;
  // Stands for the number of ids of a text with a refused token.
  static constexpr std::size_t TOO_MANY = std::size_t{1} << 62;

  ChunkSearch(const ChunkText &text, const PairProofs &proofs, const Encoder &encoder,
              const Vocabulary &vocabulary, Count count, std::size_t room);

  // Adds a kind of borders, and returns its index. `places` is for PLACES: they ascend up to
  // the size of the text, which is one of them. `kinds` is for SENTENCES: the sentence::Kind of
  // each code point below CODE_POINTS, or 0. Both must outlive this object.
  std::size_t add_borders(BorderKind kind, const std::int64_t *places = nullptr,
                          std::size_t count = 0, const std::uint8_t *kinds = nullptr);
  std::size_t kinds() const { return borders_.size(); }

  // Returns the longest part from `start` to a border after `floor`.
  std::optional<Part> longest(Place start, std::size_t borders, Place floor);

  // Returns the next consecutive parts from `start`, at most `limit`. Each part ends at a
  // border of the first kind that has one near enough. Returns fewer parts if no kind has one.
  std::vector<Part> run(Place start, std::size_t limit);

private:
  // No border lies between `low` and `high`; `low` is -1 or a border.
  struct Gap {
    Place low = 0;
    Place high = -1;
  };
  struct Borders {
    BorderKind kind;
    const std::int64_t *places;
    std::size_t count;
    const std::uint8_t *kinds;
    // For kinds whose borders are found byte by byte: whether a border may come after a byte,
    // or before a byte for SPACES, and the last results of before and after.
    std::array<bool, 256> may_touch = {};
    Gap gap_before = {};
    Gap gap_after = {};
  };
  struct Stretch {
    Place start = 0;
    Place end = 0;
  };

  Place size() const { return static_cast<Place>(text_.size); }
  Place end(std::size_t at) const { return text_.ends[at]; }
  std::size_t ids_up_to(Place place); // bisect_right of the ends

  bool is_border(Place place) const;
  Place before(Place place) const;
  Place after(Place place) const;
  Proof proven(Place place) const;
  bool is_cut(Place place) const { return proven(place) == Proof::CUT; }
  Stretch stretch(Place place);
  Place max_size(std::size_t ids) const;

  bool is_border(Borders &borders, Place place);
  Place before(Borders &borders, Place place);
  Place after(Borders &borders, Place place);
  bool is_scanned_border(const Borders &borders, Place place) const;
  // Returns whether the byte that `may_touch` is about allows a border, which is in the text.
  static bool may_be_border(const Borders &borders, const std::uint8_t *place) {
    return borders.may_touch[borders.kind == BorderKind::SPACES ? place[0] : place[-1]];
  }
  Place scan_before(Borders &borders, Place place) const;
  Place scan_after(Borders &borders, Place place) const;
  bool ends_line(Place place) const;
  bool ends_sentence(const std::uint8_t *kinds, Place place) const;
  const std::vector<Place> &pre_tokens(Place place);

  bool keeps_ids(std::size_t at, Place place) const;
  bool splits(std::size_t at) const;
  bool is_not_merged(Place start, Place end) const;
  std::size_t last_known(std::size_t first, std::size_t at);
  bool ends_at_cut(std::size_t at);
  std::size_t following(std::size_t first);
  std::optional<Part> within(Place low, Place high, std::size_t before, Borders &borders,
                             Place floor, Place start);
  std::optional<Part> last_fit(Place low, Place high, std::size_t before, Borders &borders,
                               Place floor, Place start);
  std::optional<Part> bisect(Place low, Place high, std::size_t before, Borders &borders,
                             Place floor, Place start);
  std::size_t count(Place low, Place place, Place start) const;

  ChunkText text_;
  const PairProofs &proofs_;
  const Encoder &encoder_;
  const Vocabulary &vocabulary_;
  Count count_;
  std::size_t room_;
  std::size_t longest_not_merged_; // in bytes
  std::vector<Borders> borders_;
  std::size_t ids_before_ = 0; // the last result of ids_up_to

  Stretch stretch_;           // of the last call of stretch()
  Stretch piece_;             // the text of `pieces_`
  std::vector<Place> pieces_; // the borders of pre-tokens in piece_, without its end
  // The last result of ends_at_cut, which is right for all ids from `first` to `last`.
  struct Stop {
    std::size_t first = 1;
    std::size_t last = 0;
    bool is_cut = false;
  };
  Stop stop_;
};

} // namespace pretok
