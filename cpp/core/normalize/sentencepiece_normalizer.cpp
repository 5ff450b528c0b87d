#include "core/normalize/sentencepiece_normalizer.hpp"

#include "core/unicode/code_point_counts.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pretok {
namespace {

constexpr std::uint8_t ESCAPED_SPACE[] = {0xE2, 0x96, 0x81};         // U+2581
constexpr std::uint8_t REPLACEMENT_CHARACTER[] = {0xEF, 0xBF, 0xBD}; // U+FFFD
constexpr std::uint8_t PLAIN_SPACE[] = {' ', 0, 0};
constexpr std::size_t MAX_SPACE = sizeof ESCAPED_SPACE;

} // namespace

SentencePieceNormalizer::SentencePieceNormalizer(Options options, Charsmap charsmap,
                                                 Symbols symbols)
    : options_(options), charsmap_(std::move(charsmap)), symbols_(std::move(symbols)) {
  for (std::uint8_t byte = 0; byte < 0x80; ++byte)
    if (!symbols_.has_first(byte) && !charsmap_.may_match_in_ascii(byte))
      treatments_[byte] = byte == ' ' ? Treatment::SPACE : Treatment::KEEP;
}

// The normalization of one text. If ALIGNS, stores the origins of code points.
template <bool ALIGNS> class SentencePieceNormalizer::Pass {
public:
  Pass(const SentencePieceNormalizer &normalizer, const std::uint8_t *data, std::size_t size,
       std::vector<std::uint8_t> &to, std::vector<std::int64_t> *origins, bool continues)
      : use_(normalizer), data_(data), size_(size), to_(to), origins_(origins),
        space_(options().escape_whitespaces ? ESCAPED_SPACE : PLAIN_SPACE),
        space_size_(options().escape_whitespaces ? sizeof ESCAPED_SPACE : 1),
        has_begun_(continues),
        is_after_space_(options().remove_extra_whitespaces && !continues) {}

  void run() {
    for (std::size_t at = 0; at < size_;) {
      const std::size_t copied = has_begun_ ? copy_ascii(at) : at;
      at = copied > at ? copied : at + step(at);
    }
    finish();
    to_.resize(end_);
  }

private:
  const Options &options() const { return use_.options_; }

  // Appends ASCII characters from `at` on that no rule or symbol begins with. Returns the
  // position of the first other character, or an earlier position. A rule may begin with an
  // ASCII character before a character that is not ASCII, so such a character counts as another
  // one.
  std::size_t copy_ascii(std::size_t at) {
    constexpr std::size_t AT_ONCE = 256;
    const bool trims = options().remove_extra_whitespaces;
    const std::size_t end = at + std::min(AT_ONCE, size_ - at);
    const std::size_t start = at;
    std::uint8_t *out = room(AT_ONCE * MAX_SPACE + 1);
    bool is_after_space = is_after_space_;
    for (; at < end; ++at) {
      const Treatment treatment = use_.treatments_[data_[at]];
      if (treatment == Treatment::SEARCH || (at + 1 < size_ && data_[at + 1] >= 0x80))
        break;
      if (treatment == Treatment::KEEP) {
        *out++ = data_[at];
        is_after_space = false;
      } else if (!is_after_space) {
        std::memcpy(out, space_, MAX_SPACE);
        out += space_size_;
        is_after_space = trims;
      } else {
        continue;
      }
      if (ALIGNS)
        origins_->push_back(consumed_ + static_cast<std::int64_t>(at - start));
    }
    consumed_ += static_cast<std::int64_t>(at - start);
    end_ = static_cast<std::size_t>(out - to_.data());
    is_after_space_ = is_after_space;
    return at;
  }

  // Returns the end of the result, with room for `size` more bytes.
  std::uint8_t *room(std::size_t size) {
    if (to_.size() - end_ < size)
      to_.resize(end_ + std::max(size, size_ + end_ / 2));
    return to_.data() + end_;
  }

  // Normalizes one part of the text, from `at` on. Returns its size.
  std::size_t step(std::size_t at) {
    const std::uint8_t *text = data_ + at;
    const std::size_t left = size_ - at;
    const std::size_t symbol =
        use_.symbols_.has_first(text[0]) ? use_.symbols_.longest(text, left) : 0;
    if (symbol > 0) {
      replace(count_code_points(text, symbol), text, symbol);
      return symbol;
    }
    const Charsmap::Rule rule = use_.charsmap_.longest(text, left);
    if (rule.size > 0) {
      replace(count_code_points(text, rule.size), rule.replacement, rule.replacement_size);
      return rule.size;
    }
    const Decoded decoded = decode_utf8(text, left);
    if (decoded.code_point - 0xDC00 < 0x100) {
      replace(1, REPLACEMENT_CHARACTER, sizeof REPLACEMENT_CHARACTER);
    } else {
      replace(1, text, decoded.width);
    }
    return decoded.width;
  }

  // Replaces the next `count` code points of the text.
  void replace(std::size_t count, const std::uint8_t *replacement, std::size_t size) {
    const bool trims = options().remove_extra_whitespaces;
    const bool is_space = size == 1 && replacement[0] == ' ';
    if (has_begun_ || !trims || !is_space) {
      begin();
      const std::uint8_t *end = replacement + size;
      while (is_after_space_ && replacement != end && *replacement == ' ')
        ++replacement;
      if (replacement != end) {
        append(replacement, end);
        is_after_space_ = trims && end[-1] == ' ';
      }
    }
    consumed_ += static_cast<std::int64_t>(count);
  }

  // Puts the space before the text, if the text has not begun.
  void begin() {
    if (has_begun_)
      return;
    has_begun_ = true;
    if (options().add_dummy_prefix && !options().treat_whitespace_as_suffix)
      append_space();
  }

  // Appends text that has the origin `consumed_`, with each space escaped.
  void append(const std::uint8_t *text, const std::uint8_t *end) {
    for (; text != end; ++text) {
      if (*text == ' ') {
        append_space();
        continue;
      }
      *room(1) = *text;
      ++end_;
      if (ALIGNS && !is_tail(*text))
        origins_->push_back(consumed_);
    }
  }

  // Appends a space, which is escaped if the options say so.
  void append_space() {
    std::memcpy(room(MAX_SPACE), space_, MAX_SPACE);
    end_ += space_size_;
    if (ALIGNS)
      origins_->push_back(consumed_);
  }

  // Drops the spaces at the end of the text, and puts a space there if the options say so.
  void finish() {
    if (!has_begun_)
      return;
    while (options().remove_extra_whitespaces && ends_with_space()) {
      end_ -= space_size_;
      if (ALIGNS) {
        consumed_ = origins_->back();
        origins_->pop_back();
      }
    }
    if (options().add_dummy_prefix && options().treat_whitespace_as_suffix)
      append_space();
    if (ALIGNS)
      origins_->push_back(consumed_);
  }

  bool ends_with_space() const {
    return end_ >= space_size_ &&
           std::equal(space_, space_ + space_size_, to_.data() + end_ - space_size_);
  }

  const SentencePieceNormalizer &use_;
  const std::uint8_t *data_;
  std::size_t size_;
  std::vector<std::uint8_t> &to_;
  std::vector<std::int64_t> *origins_;
  const std::uint8_t *space_; // MAX_SPACE bytes; the first `space_size_` of them are a space
  std::size_t space_size_;
  std::size_t end_ = 0;       // to_[0..end_) is the result so far
  std::int64_t consumed_ = 0; // the number of code points of the text that are done
  bool has_begun_;
  bool is_after_space_;
};

void SentencePieceNormalizer::normalize(const std::uint8_t *data, std::size_t size,
                                        std::vector<std::uint8_t> &to, bool continues) const {
  Pass<false>(*this, data, size, to, nullptr, continues).run();
}

void SentencePieceNormalizer::align(const std::uint8_t *data, std::size_t size,
                                    std::vector<std::uint8_t> &to,
                                    std::vector<std::int64_t> &origins, bool continues) const {
  Pass<true>(*this, data, size, to, &origins, continues).run();
}

std::size_t SentencePieceNormalizer::max_growth() const {
  // A space or an invalid byte becomes three bytes, and so does the space that is added.
  return std::max(charsmap_.max_growth(), MAX_SPACE) + MAX_SPACE;
}

} // namespace pretok
