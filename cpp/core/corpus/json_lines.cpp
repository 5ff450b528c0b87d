#include "core/corpus/json_lines.hpp"

#include "core/base/bits.hpp"
#include "core/unicode/utf8.hpp"

#include <array>
#include <cstring>

namespace pretok {
namespace {

constexpr int MAX_DEPTH = 64;
// In bytes. Longer numbers are left to Python, which refuses integers of more than 4,300
// digits.
constexpr std::ptrdiff_t MAX_NUMBER = 1000;

// The number of bytes that plain_bytes looks at.
#if defined(PRETOK_SSE2)
constexpr std::size_t WIDE = 16;

// Returns the number of bytes, from `bytes` on, that stand for themselves in a JSON string:
// ASCII characters except controls, the quote and the backslash. Stops at the first other byte,
// or after WIDE bytes.
std::size_t plain_bytes(const std::uint8_t *bytes) {
  const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes));
  // The comparison is signed: bytes above 0x7F are negative, so they are below 0x20 too.
  __m128i others = _mm_cmplt_epi8(all, _mm_set1_epi8(0x20));
  others = _mm_or_si128(others, _mm_cmpeq_epi8(all, _mm_set1_epi8('"')));
  others = _mm_or_si128(others, _mm_cmpeq_epi8(all, _mm_set1_epi8('\\')));
  return lowest_bit(static_cast<std::uint64_t>(_mm_movemask_epi8(others)) | 1 << WIDE);
}
#else
constexpr std::size_t WIDE = 8;
constexpr std::uint64_t ONES = 0x0101010101010101;
constexpr std::uint64_t TOPS = 0x80 * ONES;

// Returns 0 if and only if none of the 8 bytes is zero.
std::uint64_t zeros(std::uint64_t bytes) { return (bytes - ONES) & ~bytes & TOPS; }

// Returns the number of bytes, from `bytes` on, that stand for themselves in a JSON string:
// ASCII characters except controls, the quote and the backslash. Stops at the first other byte,
// or after WIDE bytes. On a big-endian processor, returns 0 if any of the WIDE bytes is another
// byte.
std::size_t plain_bytes(const std::uint8_t *bytes) {
  std::uint64_t all;
  std::memcpy(&all, bytes, WIDE);
  const std::uint64_t controls = (all - 0x20 * ONES) & ~all & TOPS;
  const std::uint64_t others =
      (all & TOPS) | controls | zeros(all ^ '"' * ONES) | zeros(all ^ '\\' * ONES);
  // On a little-endian processor, the lowest 1 bit is in the first other byte.
  return others == 0 ? WIDE : LITTLE_ENDIAN_BYTES ? lowest_bit(others) / 8 : 0;
}
#endif

// Returns the value of each hexadecimal digit, and 1 << 16 for other bytes.
constexpr std::array<std::uint32_t, 256> hexadecimal_digits() {
  std::array<std::uint32_t, 256> values{};
  for (std::size_t byte = 0; byte != 256; ++byte) {
    const std::size_t letter = byte | 0x20;
    values[byte] =
        static_cast<std::uint32_t>(byte >= '0' && byte <= '9'       ? byte - '0'
                                   : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
                                                                    : 1 << 16);
  }
  return values;
}
constexpr std::array<std::uint32_t, 256> DIGITS = hexadecimal_digits();

bool is_digit(std::uint8_t byte) { return byte >= '0' && byte <= '9'; }

// Reads one line. Each method reads the next part of the line, from `at_` on. Returns false if
// the part is not valid JSON, or has something that json_texts leaves to another parser.
class Line {
public:
  Line(const std::uint8_t *at, const std::uint8_t *end) : at_(at), end_(end) {}

  // Reads the whole line. Writes the string of `field` to `text`, which has room for the size
  // of the line and WIDE bytes more, and sets `size`.
  bool read(std::string_view field, std::uint8_t *text, std::size_t &size) {
    skip_space();
    if (!skip('{'))
      return false;
    bool has_text = false;
    do {
      skip_space();
      const std::uint8_t *name_start = at_ + 1;
      if (!skip('"') || !skip_string() || has_backslash_)
        return false;
      const std::string_view name(reinterpret_cast<const char *>(name_start),
                                  static_cast<std::size_t>(at_ - 1 - name_start));
      skip_space();
      if (!skip(':'))
        return false;
      skip_space();
      if (name != field) {
        if (!skip_value(0))
          return false;
      } else {
        if (!skip('"') || !copy_string(text, size))
          return false;
        has_text = true;
      }
      skip_space();
    } while (skip(','));
    if (!skip('}'))
      return false;
    skip_space();
    return has_text && at_ == end_;
  }

private:
  bool skip(char byte) {
    if (at_ == end_ || *at_ != static_cast<std::uint8_t>(byte))
      return false;
    ++at_;
    return true;
  }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r'))
      ++at_;
  }

  // skip_string and copy_string read a string after its opening quote. copy_string writes the
  // string to `text`, and sets `size`. `string` does the work of both.
  bool skip_string() {
    std::size_t size = 0;
    return string<false>(nullptr, size);
  }
  bool copy_string(std::uint8_t *text, std::size_t &size) { return string<true>(text, size); }

  template <bool COPIES> bool string(std::uint8_t *text, std::size_t &size) {
    has_backslash_ = false;
    std::uint8_t *to = text;
    for (;;) {
      while (end_ - at_ >= static_cast<std::ptrdiff_t>(WIDE)) {
        const std::size_t plain = plain_bytes(at_);
        if constexpr (COPIES) {
          std::memcpy(to, at_, WIDE);
          to += plain;
        }
        at_ += plain;
        if (plain != WIDE)
          break;
      }
      do {
        if (at_ == end_ || *at_ < 0x20)
          return false;
        if (*at_ == '"') {
          ++at_;
          if constexpr (COPIES)
            size = static_cast<std::size_t>(to - text);
          return true;
        }
        if (*at_ == '\\') {
          has_backslash_ = true;
          ++at_;
          std::uint32_t code_point;
          if (!escape(code_point))
            return false;
          if constexpr (COPIES)
            to += encode_utf8(code_point, to);
          continue;
        }
        const Decoded decoded = decode_utf8(at_, static_cast<std::size_t>(end_ - at_));
        if (decoded.width == 1 && *at_ >= 0x80)
          return false;
        if constexpr (COPIES) {
          std::memcpy(to, at_, decoded.width);
          to += decoded.width;
        }
        at_ += decoded.width;
      } while (end_ - at_ < static_cast<std::ptrdiff_t>(WIDE) || *at_ >= 0x80);
    }
  }

  // Reads an escape after its backslash.
  bool escape(std::uint32_t &code_point) {
    if (at_ == end_)
      return false;
    switch (*at_++) {
    case '"':
    case '\\':
    case '/':
      code_point = at_[-1];
      return true;
    case 'b':
      code_point = '\b';
      return true;
    case 'f':
      code_point = '\f';
      return true;
    case 'n':
      code_point = '\n';
      return true;
    case 'r':
      code_point = '\r';
      return true;
    case 't':
      code_point = '\t';
      return true;
    case 'u':
      return unicode_escape(code_point);
    default:
      return false;
    }
  }

  // Reads an escape after \u. After a high surrogate, also reads the escape of the low
  // surrogate.
  bool unicode_escape(std::uint32_t &code_point) {
    if (!hexadecimal(code_point))
      return false;
    if (code_point < 0xD800 || code_point > 0xDFFF)
      return true;
    std::uint32_t low = 0;
    if (code_point > 0xDBFF || !skip('\\') || !skip('u') || !hexadecimal(low) || low < 0xDC00 ||
        low > 0xDFFF)
      return false;
    code_point = 0x10000 + ((code_point - 0xD800) << 10) + (low - 0xDC00);
    return true;
  }

  // Reads four hexadecimal digits.
  bool hexadecimal(std::uint32_t &number) {
    if (end_ - at_ < 4)
      return false;
    // A byte that is not a hexadecimal digit has bits above the lowest 16.
    number = DIGITS[at_[0]] << 12 | DIGITS[at_[1]] << 8 | DIGITS[at_[2]] << 4 | DIGITS[at_[3]];
    at_ += 4;
    return number <= 0xFFFF;
  }

  bool skip_value(int depth) {
    if (at_ == end_ || depth > MAX_DEPTH)
      return false;
    switch (*at_) {
    case '"':
      ++at_;
      return skip_string();
    case '{':
    case '[':
      return skip_container(depth);
    case 't':
      return skip_word("true");
    case 'f':
      return skip_word("false");
    case 'n':
      return skip_word("null");
    default:
      return skip_number();
    }
  }

  bool skip_container(int depth) {
    const bool is_object = *at_++ == '{';
    const char close = is_object ? '}' : ']';
    skip_space();
    if (skip(close))
      return true;
    do {
      skip_space();
      if (is_object) {
        if (!skip('"') || !skip_string())
          return false;
        skip_space();
        if (!skip(':'))
          return false;
        skip_space();
      }
      if (!skip_value(depth + 1))
        return false;
      skip_space();
    } while (skip(','));
    return skip(close);
  }

  bool skip_word(std::string_view word) {
    if (static_cast<std::size_t>(end_ - at_) < word.size() ||
        std::memcmp(at_, word.data(), word.size()) != 0)
      return false;
    at_ += word.size();
    return true;
  }

  bool skip_number() {
    const std::uint8_t *start = at_;
    skip('-');
    if (!skip('0') && !skip_digits())
      return false;
    if (skip('.') && !skip_digits())
      return false;
    if (skip('e') || skip('E')) {
      if (!skip('-'))
        skip('+');
      if (!skip_digits())
        return false;
    }
    return at_ - start <= MAX_NUMBER;
  }

  bool skip_digits() {
    const std::uint8_t *start = at_;
    while (at_ != end_ && is_digit(*at_))
      ++at_;
    return at_ != start;
  }

  const std::uint8_t *at_;
  const std::uint8_t *end_;
  bool has_backslash_ = false; // whether the last string had one
};

} // namespace

void json_texts(const std::uint8_t *data, std::size_t size, std::string_view field,
                std::vector<std::uint8_t> &text, std::vector<JsonText> &texts) {
  // No text is longer than its line. Line::read writes up to WIDE bytes after a text.
  const std::size_t begin = text.size();
  text.resize(begin + size + WIDE);
  std::size_t used = begin;
  const std::uint8_t *const end = data + size;
  while (data != end) {
    const void *newline = std::memchr(data, '\n', static_cast<std::size_t>(end - data));
    const auto *stop = newline == nullptr ? end : static_cast<const std::uint8_t *>(newline);
    JsonText result;
    result.start = used;
    result.is_known = Line(data, stop).read(field, text.data() + used, result.size);
    if (result.is_known)
      used += result.size;
    texts.push_back(result);
    data = newline == nullptr ? end : stop + 1;
  }
  text.resize(used);
}

} // namespace pretok
