#include "core/normalize/sentencepiece_normalizer.hpp"

#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pretok {
namespace {

constexpr std::uint8_t SPACE_MARK[] = {0xE2, 0x96, 0x81};            // U+2581
constexpr std::uint8_t REPLACEMENT_CHARACTER[] = {0xEF, 0xBF, 0xBD}; // U+FFFD
constexpr std::uint8_t SPACE[] = {' '};

std::int64_t count_code_points(const std::uint8_t *data, std::size_t size) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at < size; ++at)
    count += static_cast<std::int64_t>(!is_tail(data[at]));
  return count;
}

} // namespace

SentencePieceNormalizer::SentencePieceNormalizer(Options options, Charsmap charsmap,
                                                 Symbols symbols)
    : options_(options), charsmap_(std::move(charsmap)), symbols_(std::move(symbols)) {
  for (std::uint8_t byte = 0; byte < 0x80; ++byte)
    is_kept_[byte] =
        byte != ' ' && !symbols_.has_first(byte) && !charsmap_.may_match_in_ascii(byte);
}

// The normalization of one text. If ALIGNS, stores the origins of code points.
template <bool ALIGNS> class SentencePieceNormalizer::Pass {
public:
  Pass(const SentencePieceNormalizer &normalizer, const std::uint8_t *data, std::size_t size,
       std::vector<std::uint8_t> &to, std::vector<std::int64_t> *origins)
      : use_(normalizer), data_(data), size_(size), to_(to), origins_(origins),
        is_after_space_(normalizer.options_.remove_extra_whitespaces) {}

  void run() {
    to_.reserve(size_ + size_ / 2 + 16);
    for (std::size_t at = 0; at < size_;) {
      const std::size_t kept = kept_size(at);
      if (kept > 0) {
        begin();
        append_kept(data_ + at, kept, static_cast<std::int64_t>(kept));
        at += kept;
      } else {
        at += step(at);
      }
    }
    finish();
  }

private:
  const Options &options() const { return use_.options_; }

  // Returns the number of bytes from `at` on that are ASCII characters other than spaces, and
  // that are kept whatever follows them.
  std::size_t kept_size(std::size_t at) const {
    std::size_t end = at;
    while (end < size_ && use_.is_kept_[data_[end]])
      ++end;
    // A rule may begin with an ASCII character before a character that is not ASCII.
    return end > at && end < size_ && data_[end] >= 0x80 ? end - at - 1 : end - at;
  }

  // Appends text without spaces, which has `count` code points.
  void append_kept(const std::uint8_t *text, std::size_t size, std::int64_t count) {
    to_.insert(to_.end(), text, text + size);
    if (ALIGNS)
      for (std::int64_t i = 0; i < count; ++i)
        origins_->push_back(consumed_ + i);
    consumed_ += count;
    is_after_space_ = false;
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
    } else if (text[0] == ' ') {
      replace(1, text, 1);
    } else {
      begin();
      append_kept(text, decoded.width, 1);
    }
    return decoded.width;
  }

  // Replaces the next `count` code points of the text.
  void replace(std::int64_t count, const std::uint8_t *replacement, std::size_t size) {
    const bool trims = options().remove_extra_whitespaces;
    const bool is_space = size == 1 && replacement[0] == ' ';
    if (has_begun_ || !trims || !is_space) {
      begin();
      const std::uint8_t *end = replacement + size;
      while (is_after_space_ && replacement != end && *replacement == ' ')
        ++replacement;
      if (replacement != end) {
        append_escaped(replacement, end);
        is_after_space_ = trims && end[-1] == ' ';
      }
    }
    consumed_ += count;
  }

  // Puts the space before the text, if the text has not begun.
  void begin() {
    if (has_begun_)
      return;
    has_begun_ = true;
    if (options().add_dummy_prefix && !options().treat_whitespace_as_suffix)
      append_escaped(SPACE, SPACE + 1);
  }

  // Appends text that has the origin `consumed_`, with each space escaped.
  void append_escaped(const std::uint8_t *text, const std::uint8_t *end) {
    for (; text != end; ++text) {
      if (*text == ' ' && options().escape_whitespaces)
        to_.insert(to_.end(), std::begin(SPACE_MARK), std::end(SPACE_MARK));
      else
        to_.push_back(*text);
      if (ALIGNS && !is_tail(*text))
        origins_->push_back(consumed_);
    }
  }

  // Drops the spaces at the end of the text, and puts a space there if the options say so.
  void finish() {
    if (!has_begun_)
      return;
    while (options().remove_extra_whitespaces && ends_with_space()) {
      to_.resize(to_.size() - space_size());
      if (ALIGNS) {
        consumed_ = origins_->back();
        origins_->pop_back();
      }
    }
    if (options().add_dummy_prefix && options().treat_whitespace_as_suffix)
      append_escaped(SPACE, SPACE + 1);
    if (ALIGNS)
      origins_->push_back(consumed_);
  }

  std::size_t space_size() const {
    return options().escape_whitespaces ? sizeof SPACE_MARK : sizeof SPACE;
  }

  bool ends_with_space() const {
    const std::uint8_t *space = options().escape_whitespaces ? SPACE_MARK : SPACE;
    return to_.size() >= space_size() &&
           std::equal(space, space + space_size(), to_.data() + to_.size() - space_size());
  }

  const SentencePieceNormalizer &use_;
  const std::uint8_t *data_;
  std::size_t size_;
  std::vector<std::uint8_t> &to_;
  std::vector<std::int64_t> *origins_;
  std::int64_t consumed_ = 0; // the number of code points of the text that are done
  bool has_begun_ = false;
  bool is_after_space_;
};

void SentencePieceNormalizer::normalize(const std::uint8_t *data, std::size_t size,
                                        std::vector<std::uint8_t> &to,
                                        std::vector<std::int64_t> *origins) const {
  if (origins == nullptr)
    Pass<false>(*this, data, size, to, origins).run();
  else
    Pass<true>(*this, data, size, to, origins).run();
}

} // namespace pretok
