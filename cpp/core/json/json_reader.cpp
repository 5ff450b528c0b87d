#include "core/json/json_reader.hpp"

#include "core/base/bits.hpp"
#include "core/simd/kernels.hpp"
#include "core/unicode/utf8.hpp"

#include <array>

namespace pretok {
namespace {

// In bytes. Longer numbers are left to Python, which refuses integers of more than 4,300
// digits.
constexpr std::ptrdiff_t MAX_NUMBER = 1000;

// The number of bytes that plain_bytes looks at.
#if defined(PRETOK_SSE2)
constexpr std::size_t WIDE = 16;

// Returns the number of bytes, from `bytes` on, that stand for themselves in a JSON string: all
// but controls, the quote and the backslash. Stops at the first other byte, or after WIDE
// bytes.
std::size_t plain_bytes(const std::uint8_t *bytes) {
  const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes));
  // Unsigned: a byte is at most 0x1F if and only if it is the minimum of itself and 0x1F.
  __m128i others = _mm_cmpeq_epi8(_mm_min_epu8(all, _mm_set1_epi8(0x1F)), all);
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

// Returns the number of bytes, from `bytes` on, that stand for themselves in a JSON string: all
// but controls, the quote and the backslash. Stops at the first other byte, or after WIDE
// bytes. On a big-endian processor, returns 0 if any of the WIDE bytes does not stand for
// itself.
std::size_t plain_bytes(const std::uint8_t *bytes) {
  std::uint64_t all;
  std::memcpy(&all, bytes, WIDE);
  const std::uint64_t controls = (all - 0x20 * ONES) & ~all & TOPS;
  const std::uint64_t others = controls | zeros(all ^ '"' * ONES) | zeros(all ^ '\\' * ONES);
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

} // namespace

bool JsonReader::string(std::string_view &text, bool &has_escape) {
  const char *const start = at() + 1;
  if (!skip_string())
    return false;
  text = since(start);
  text.remove_suffix(1);
  has_escape = has_escape_;
  return true;
}

bool JsonReader::copy_string(std::uint8_t *text, std::size_t &size) {
  static_assert(WIDE <= COPY_ROOM && JSON_COPY_ROOM <= COPY_ROOM);
  return read_string<true>(text, size);
}

bool JsonReader::skip_string() {
  std::size_t size = 0;
  return read_string<false>(nullptr, size);
}

template <bool COPIES> bool JsonReader::read_string(std::uint8_t *text, std::size_t &size) {
  if (!skip('"'))
    return false;
  has_escape_ = false;
  std::uint8_t *to = text;
  for (;;) {
#if PRETOK_X86_KERNELS
    if (COPIES && kernels().instruction_set == InstructionSet::AVX512) {
      const JsonCopy copied = copy_json_avx512({at_, to}, end_);
      at_ = copied.from;
      to = copied.to;
    }
#endif
    while (end_ - at_ >= static_cast<std::ptrdiff_t>(WIDE)) {
      const std::size_t plain = plain_bytes(at_);
      if constexpr (COPIES)
        std::memcpy(to, at_, WIDE);
      // Most often, all WIDE bytes are plain. This branch adds a constant to the position, so
      // the processor need not wait for the value of `plain`.
      if (plain == WIDE) {
        to += COPIES ? WIDE : 0;
        at_ += WIDE;
        continue;
      }
      to += COPIES ? plain : 0;
      at_ += plain;
      break;
    }
    // Read one character, or several if escapes follow each other or few bytes are left.
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
        has_escape_ = true;
        ++at_;
        std::uint32_t code_point;
        if (!escape(code_point))
          return false;
        if constexpr (COPIES)
          to += encode_utf8(code_point, to);
        continue;
      }
      if constexpr (COPIES)
        *to++ = *at_;
      ++at_;
    } while (end_ - at_ < static_cast<std::ptrdiff_t>(WIDE) || *at_ == '\\');
  }
}

// Reads an escape after its backslash.
inline bool JsonReader::escape(std::uint32_t &code_point) {
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
inline bool JsonReader::unicode_escape(std::uint32_t &code_point) {
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
inline bool JsonReader::hexadecimal(std::uint32_t &number) {
  if (end_ - at_ < 4)
    return false;
  // A byte that is not a hexadecimal digit has bits above the lowest 16.
  number = DIGITS[at_[0]] << 12 | DIGITS[at_[1]] << 8 | DIGITS[at_[2]] << 4 | DIGITS[at_[3]];
  at_ += 4;
  return number <= 0xFFFF;
}

bool JsonReader::short_number(std::uint32_t &number) {
  constexpr std::ptrdiff_t MAX_DIGITS = 9;
  const std::uint8_t *at = at_;
  number = 0;
  while (at != end_ && is_digit(*at) && at - at_ < MAX_DIGITS)
    number = number * 10 + (*at++ - '0');
  const bool has_more = at != end_ && (is_digit(*at) || *at == '.' || (*at | 0x20) == 'e');
  if (at == at_ || has_more || (*at_ == '0' && at - at_ > 1))
    return false;
  at_ = at;
  return true;
}

bool JsonReader::skip_value() {
  struct Ignore {
    static bool string(JsonReader &json) { return json.skip_string(); }
    static void scalar(std::string_view) {}
    bool container(JsonReader &json, int depth) { return json.read_container(*this, depth); }
    static std::size_t open(const char *) { return 0; }
    static void close(std::size_t) {}
  } ignore;
  return read_value(ignore);
}

bool JsonReader::skip_scalar() {
  switch (*at_) {
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

bool JsonReader::skip_word(std::string_view word) {
  if (static_cast<std::size_t>(end_ - at_) < word.size() ||
      std::memcmp(at_, word.data(), word.size()) != 0)
    return false;
  at_ += word.size();
  return true;
}

bool JsonReader::skip_number() {
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

bool JsonReader::skip_digits() {
  const std::uint8_t *start = at_;
  while (at_ != end_ && is_digit(*at_))
    ++at_;
  return at_ != start;
}

} // namespace pretok
