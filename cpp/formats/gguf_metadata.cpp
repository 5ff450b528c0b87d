#include "gguf_metadata.hpp"

#include "faults.hpp"
#include "vocabulary.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace pretok {
namespace {

constexpr std::size_t MOST_METADATA = std::size_t{1} << 29; // of metadata
constexpr std::uint64_t MOST_KEY_BYTES = 65535;
constexpr std::size_t LEAST_ENTRY_BYTES = 8 + 4 + 1;

// clang-format off
struct Gguf {
  enum : std::uint32_t { U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64,
                         COUNT };
};
constexpr std::array<std::size_t, Gguf::COUNT> WIDTHS = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
// clang-format on

bool is_float(std::uint32_t kind) { return kind == Gguf::F32 || kind == Gguf::F64; }
bool is_signed(std::uint32_t kind) {
  return kind == Gguf::I8 || kind == Gguf::I16 || kind == Gguf::I32 || kind == Gguf::I64;
}

// Reads values from `at_` on, in the byte order of the file. What reads returns false once
// there is a fault.
class MetadataReader {
public:
  MetadataReader(const std::uint8_t *data, std::size_t size, std::vector<GgufValue> &values)
      : data_(data), size_(std::min(size, MOST_METADATA)), values_(values) {
    // What is 2 or 3 in one byte order is a multiple of 65536 in the other.
    big_endian_ = size_ >= 8 && data[4] == 0 && data[5] == 0;
  }

  Fault read() {
    read_all();
    return std::move(fault_);
  }

private:
  bool read_all() {
    std::uint64_t version = 0;
    std::uint64_t count = 0;
    if (!number(4, version))
      return false;
    if (version != 2 && version != 3) {
      fault_ = unsupported("this is GGUF version " + std::to_string(version) +
                           "; versions 2 and 3 are read, so convert the model again with a "
                           "llama.cpp of today");
      return false;
    }
    name_ = "the number of tensors";
    if (!number(8, count))
      return false;
    name_ = "the number of keys";
    if (!number(8, count))
      return false;
    if (count > (size_ - at_) / LEAST_ENTRY_BYTES)
      return wrong(std::to_string(count) + ", for which the file has no room", at_ - 8);
    std::vector<std::string_view> keys;
    for (std::uint64_t index = 0; index < count; ++index) {
      name_ = "key " + std::to_string(index) + " of " + std::to_string(count);
      std::string_view key;
      if (!text(MOST_KEY_BYTES, key))
        return false;
      keys.push_back(key);
      name_ = key.size() > 80 ? shown(key) : std::string(key);
      const auto wanted = std::find_if(values_.begin(), values_.end(),
                                       [&](const GgufValue &each) { return each.key == key; });
      if (!value(wanted == values_.end() ? nullptr : &*wanted))
        return false;
    }
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice != keys.end()) {
      name_ = "key " + shown(*twice);
      return wrong("there twice", at_);
    }
    return true;
  }

  // Reads one value into `to`, if that is not nullptr.
  bool value(GgufValue *to) {
    std::uint32_t of = 0;
    if (!kind(of))
      return false;
    if (of == Gguf::ARRAY)
      return array(to);
    if (of == Gguf::STRING) {
      std::uint64_t length = 0;
      if (to == nullptr)
        return number(8, length) && skip(length);
      to->kind = GgufValue::STRING;
      return text(MOST_METADATA, to->text);
    }
    std::uint64_t found = 0;
    if (!number(WIDTHS[of], found) || (of == Gguf::BOOL && !flag(found)))
      return false;
    if (to != nullptr) {
      to->kind = of == Gguf::BOOL ? GgufValue::FLAG
                 : is_float(of)   ? GgufValue::FLOAT
                                  : GgufValue::INTEGER;
      to->negative = is_signed(of) && is_negative(found, WIDTHS[of]);
      to->number = to->negative ? distance(found, WIDTHS[of]) : found;
    }
    return true;
  }

  bool array(GgufValue *to) {
    std::uint32_t of = 0;
    std::uint64_t count = 0;
    if (!kind(of) || !number(8, count))
      return false;
    if (of == Gguf::ARRAY) {
      fault_ = unsupported(name_ + " is an array of arrays, which is not read");
      return false;
    }
    if (count > ID_LIMIT && (to != nullptr || of == Gguf::STRING))
      return wrong("an array of " + std::to_string(count) + ", more than " +
                       std::to_string(ID_LIMIT),
                   at_ - 8);
    if (of == Gguf::STRING)
      return strings(count, to);
    if (count > (size_ - at_) / WIDTHS[of])
      return cut_off(std::to_string(count) + " times " + std::to_string(WIDTHS[of]));
    if (to == nullptr)
      return skip(count * WIDTHS[of]);
    to->kind = GgufValue::NUMBERS;
    to->numbers.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t found = 0;
      if (!number(WIDTHS[of], found) || (of == Gguf::BOOL && !flag(found)))
        return false;
      to->numbers.push_back(whole(of, found));
    }
    return true;
  }

  bool strings(std::uint64_t count, GgufValue *to) {
    if (to != nullptr) {
      to->kind = GgufValue::STRINGS;
      to->texts.reserve(std::min<std::uint64_t>(count, (size_ - at_) / 8));
    }
    const std::string array = name_;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t length = 0;
      const std::size_t start = at_ + 8;
      if (size_ - at_ < 8 || !number(8, length) || length > size_ - at_) {
        name_ = array + "[" + std::to_string(i) + "] of " + std::to_string(count);
        return cut_off(std::to_string(at_ < start ? 8 : length));
      }
      const std::string_view found = view(at_, length);
      at_ += length;
      if (to == nullptr)
        continue;
      if (!is_utf8(found)) {
        fault_ = malformed(array + "[" + std::to_string(i) + "] is " + shown(found) +
                           ", which is not UTF-8; the file is damaged");
        return false;
      }
      to->texts.push_back(found);
    }
    return true;
  }

  bool text(std::uint64_t most, std::string_view &found) {
    const std::size_t start = at_;
    std::uint64_t length = 0;
    if (!number(8, length))
      return false;
    if (length > most)
      return wrong("a string of " + std::to_string(length) + " bytes, more than " +
                       std::to_string(most),
                   start);
    if (!skip(length))
      return false;
    found = view(at_ - length, length);
    return is_utf8(found) || wrong("not UTF-8", start);
  }

  bool kind(std::uint32_t &found) {
    std::uint64_t read = 0;
    if (!number(4, read))
      return false;
    found = static_cast<std::uint32_t>(read);
    return found < Gguf::COUNT ||
           wrong("of kind " + std::to_string(found) + ", which there is not", at_ - 4);
  }

  bool number(std::size_t width, std::uint64_t &found) {
    if (!skip(width))
      return false;
    const std::uint8_t *const bytes = data_ + (at_ - width);
    found = 0;
    for (std::size_t i = 0; i < width; ++i)
      found = found << 8 | bytes[big_endian_ ? i : width - 1 - i];
    return true;
  }

  bool flag(std::uint64_t found) {
    return found <= 1 ||
           wrong("the byte " + std::to_string(found) + "; expected 0 or 1, for false or true",
                 at_ - 1);
  }

  bool skip(std::uint64_t length) {
    if (length > size_ - at_)
      return cut_off(std::to_string(length));
    at_ += static_cast<std::size_t>(length);
    return true;
  }

  std::string_view view(std::size_t start, std::uint64_t size) const {
    return {reinterpret_cast<const char *>(data_) + start, static_cast<std::size_t>(size)};
  }

  static bool is_negative(std::uint64_t bits, std::size_t width) {
    return (bits >> (8 * width - 1) & 1) != 0;
  }
  static std::uint64_t distance(std::uint64_t bits, std::size_t width) {
    return width == 8 ? ~bits + 1 : (std::uint64_t{1} << 8 * width) - bits;
  }

  static std::int64_t whole(std::uint32_t of, std::uint64_t bits) {
    if (is_float(of) || of == Gguf::BOOL)
      return GgufValue::NOT_WHOLE;
    if (is_signed(of) && is_negative(bits, WIDTHS[of]))
      return -static_cast<std::int64_t>(
          std::min<std::uint64_t>(distance(bits, WIDTHS[of]), INT64_MAX));
    return static_cast<std::int64_t>(std::min<std::uint64_t>(bits, INT64_MAX));
  }

  bool wrong(const std::string &what, std::size_t at) {
    fault_ = malformed(name_ + ", at offset " + std::to_string(at) + ", is " + what +
                       "; the file is damaged");
    return false;
  }

  bool cut_off(const std::string &length) {
    const char *const of = size_ == MOST_METADATA ? " of a model's metadata" : " of the file";
    fault_ = malformed(name_ + " has " + length + " bytes from offset " + std::to_string(at_) +
                       " on, but the end" + of + " is at " + std::to_string(size_) +
                       "; the file is cut off or damaged");
    return false;
  }

  const std::uint8_t *data_;
  std::size_t size_;
  std::vector<GgufValue> &values_;
  std::size_t at_ = 4; // behind "GGUF"
  bool big_endian_ = false;
  std::string name_ = "the version"; // of what is read, for errors
  Fault fault_;
};

} // namespace

std::string GgufValue::shown() const {
  const std::string named = std::string(key) + " is ";
  switch (kind) {
  case ABSENT:
    return named + "missing";
  case INTEGER:
    return named + (negative ? "-" : "") + std::to_string(number);
  case FLOAT:
    return named + "a floating-point number";
  case FLAG:
    return named + (number != 0 ? "true" : "false");
  case STRING:
    return named + pretok::shown(text);
  case STRINGS:
    return named + "an array of " + std::to_string(texts.size()) + " strings";
  case NUMBERS:
    return named + "an array of " + std::to_string(numbers.size()) + " numbers";
  }
  return named;
}

Fault read_gguf_metadata(const std::uint8_t *data, std::size_t size,
                         std::vector<GgufValue> &values) {
  return MetadataReader(data, size, values).read();
}

} // namespace pretok
