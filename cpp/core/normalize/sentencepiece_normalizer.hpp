// Normalizes text as SentencePiece does. bpe/normalizers/sentencepiece.py is the
// definition; it has the same results.
#pragma once

#include "core/normalize/charsmap.hpp"
#include "core/normalize/symbols.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pretok {

class SentencePieceNormalizer {
public:
  struct Options {
    bool add_dummy_prefix;
    bool remove_extra_whitespaces;
    bool escape_whitespaces;
    bool treat_whitespace_as_suffix;
  };

  SentencePieceNormalizer(Options options, Charsmap charsmap, Symbols symbols);

  // Appends the normalized text to `to`, which must be empty. A byte that is not UTF-8 becomes
  // U+FFFD. If `continues`, the text continues a text that ends with a character other than a
  // space: no space comes before it, and its first space is kept. Takes linear time.
  void normalize(const std::uint8_t *data, std::size_t size, std::vector<std::uint8_t> &to,
                 bool continues = false) const;
  // Like `normalize`. Also appends the offset in the text of each code point of the result, and
  // one more offset, the end of the last span. Offsets count code points of the text.
  void align(const std::uint8_t *data, std::size_t size, std::vector<std::uint8_t> &to,
             std::vector<std::int64_t> &origins, bool continues = false) const;

  // Returns the maximum number of bytes of the result for each byte of a text, if the charsmap
  // knows its own growth (Charsmap::find_problem).
  std::size_t max_growth() const;

private:
  template <bool ALIGNS> class Pass;

  Options options_;
  Charsmap charsmap_;
  Symbols symbols_;
  // By byte, the treatment of a character if it is ASCII, and if an ASCII character or the end
  // of the text follows it. SEARCH: a symbol or a rule may begin with it.
  enum class Treatment : std::uint8_t { SEARCH, KEEP, SPACE };
  std::array<Treatment, 256> treatments_{};
};

} // namespace pretok
