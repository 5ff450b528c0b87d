#include "formats/gguf_metadata.hpp"

#include "core/base/ids.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <cstring>

namespace pretok {
namespace {

constexpr std::size_t MAX_METADATA = std::size_t{1} << 29; // in bytes
constexpr std::uint64_t MAX_KEY_BYTES = 65535;
constexpr std::size_t MIN_ENTRY_BYTES = 8 + 4 + 1; // size of a key, type of its value, value
constexpr std::size_t MAX_KEYS = 1 << 16;          // real files have fewer than a hundred
constexpr std::size_t READ_BLOCK_BYTES = 1 << 16;  // the minimum size of the window

bool is_float(std::uint32_t kind) { return kind == Gguf::F32 || kind == Gguf::F64; }
bool is_signed(std::uint32_t kind) {
  return kind == Gguf::I8 || kind == Gguf::I16 || kind == Gguf::I32 || kind == Gguf::I64;
}

// Reads values from offset `at_` on, in the byte order of the file. A function that fails sets
// `error_` and returns false. The file may shrink during reading, so each read checks how many
// bytes the file still has.
class MetadataReader {
public:
  MetadataReader(ByteSource &file, std::vector<GgufValue> &values)
      : file_(file),
        size_(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), MAX_METADATA))),
        values_(values) {}

  LoadError read() {
    read_all();
    return std::move(error_);
  }

private:
  bool read_all() {
    std::uint64_t version = 0;
    std::uint64_t count = 0;
    // The version is a number below 65536 in 4 bytes. If its first two bytes are 0, the file is
    // big-endian.
    const std::uint8_t *const first = bytes(4);
    if (first == nullptr)
      return false;
    big_endian_ = first[0] == 0 && first[1] == 0;
    at_ -= 4;
    if (!number(4, version))
      return false;
    if (version != 2 && version != 3) {
      error_ = unsupported("this is GGUF version ", version,
                           "; expected 2 or 3; convert the model again with a current "
                           "llama.cpp");
      return false;
    }
    name_ = "the number of tensors";
    if (!number(8, count))
      return false;
    name_ = "the number of keys";
    if (!number(8, count))
      return false;
    if (count > (size_ - at_) / MIN_ENTRY_BYTES)
      return fail_value(std::to_string(count) + ", more than the file can hold", at_ - 8);
    if (count > MAX_KEYS)
      return fail_value(std::to_string(count) + ", more than " + std::to_string(MAX_KEYS),
                        at_ - 8);
    std::vector<std::string> keys;
    for (std::uint64_t index = 0; index < count; ++index) {
      name_ = "key " + std::to_string(index) + " of " + std::to_string(count);
      std::string key;
      if (!text(MAX_KEY_BYTES, key))
        return false;
      keys.push_back(key);
      name_ = key.size() > 80 ? quote(key) : std::string(key);
      const auto entry = std::find_if(values_.begin(), values_.end(),
                                      [&](const GgufValue &value) { return value.key == key; });
      if (!value(entry == values_.end() ? nullptr : &*entry))
        return false;
    }
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice != keys.end()) {
      name_ = "key " + quote(*twice);
      return fail_value("a duplicate", at_);
    }
    return true;
  }

  // Reads one value into `to`, or skips it if `to` is nullptr.
  bool value(GgufValue *to) {
    std::uint32_t type = 0;
    if (!kind(type))
      return false;
    if (type == Gguf::ARRAY)
      return array(to);
    if (type == Gguf::STRING) {
      std::uint64_t length = 0;
      if (to == nullptr)
        return number(8, length) && skip(length);
      to->kind = GgufValue::STRING;
      if (!text(MAX_METADATA, to->bytes))
        return false;
      to->text = {to->bytes.data(), to->bytes.size()};
      return true;
    }
    std::uint64_t bits = 0;
    if (!number(Gguf::WIDTHS[type], bits) || (type == Gguf::BOOL && !flag(bits)))
      return false;
    if (to != nullptr) {
      to->kind = type == Gguf::BOOL ? GgufValue::FLAG
                 : is_float(type)   ? GgufValue::FLOAT
                                    : GgufValue::INTEGER;
      to->negative = is_signed(type) && is_negative(bits, Gguf::WIDTHS[type]);
      to->number = to->negative ? magnitude(bits, Gguf::WIDTHS[type]) : bits;
    }
    return true;
  }

  // Reads or skips an array, like `value`.
  bool array(GgufValue *to) {
    std::uint32_t type = 0;
    std::uint64_t count = 0;
    if (!kind(type) || !number(8, count))
      return false;
    if (type == Gguf::ARRAY) {
      error_ =
          unsupported(name_, " is an array of arrays; expected an array of numbers or strings");
      return false;
    }
    if (count > ID_LIMIT && (to != nullptr || type == Gguf::STRING))
      return fail_value("an array of " + std::to_string(count) + ", more than " +
                            std::to_string(ID_LIMIT),
                        at_ - 8);
    if (type == Gguf::STRING)
      return strings(count, to);
    if (count > (size_ - at_) / Gguf::WIDTHS[type])
      return cut_off(std::to_string(count) + " times " + std::to_string(Gguf::WIDTHS[type]));
    if (to == nullptr)
      return skip(count * Gguf::WIDTHS[type]);
    to->kind = GgufValue::NUMBERS;
    to->numbers.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t bits = 0;
      if (!number(Gguf::WIDTHS[type], bits) || (type == Gguf::BOOL && !flag(bits)))
        return false;
      to->numbers.push_back(to_int64(type, bits));
      if (type == Gguf::F32) {
        const auto word = static_cast<std::uint32_t>(bits);
        std::memcpy(&to->floats.emplace_back(), &word, sizeof word);
      }
    }
    return true;
  }

  // Reads or skips the elements of an array of `count` strings.
  bool strings(std::uint64_t count, GgufValue *to) {
    std::vector<std::uint32_t> lengths;
    if (to != nullptr) {
      to->kind = GgufValue::STRINGS;
      lengths.reserve(std::min<std::uint64_t>(count, (size_ - at_) / 8));
    }
    const std::string array = name_;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t length = 0;
      const std::size_t start = at_ + 8;
      if (size_ - at_ < 8 || !number(8, length) || length > size_ - at_) {
        name_ = array + "[" + std::to_string(i) + "] of " + std::to_string(count);
        return cut_off(std::to_string(at_ < start ? 8 : length));
      }
      if (to == nullptr) {
        at_ += static_cast<std::size_t>(length);
        continue;
      }
      const std::uint8_t *const first = bytes(length);
      if (first == nullptr)
        return false;
      const std::string_view text(reinterpret_cast<const char *>(first),
                                  static_cast<std::size_t>(length));
      if (!is_utf8(text)) {
        error_ = malformed(array, "[", i, "] is ", quote(text),
                           ", which is not UTF-8; the file is damaged");
        return false;
      }
      to->bytes.insert(to->bytes.end(), text.begin(), text.end());
      lengths.push_back(static_cast<std::uint32_t>(length));
    }
    if (to == nullptr)
      return true;
    to->texts.reserve(lengths.size());
    const char *next = to->bytes.data();
    for (const std::uint32_t length : lengths) {
      to->texts.emplace_back(next, length);
      next += length;
    }
    return true;
  }

  // Reads a string. `Text` is a container of char, such as std::string.
  template <class Text> bool text(std::uint64_t max_size, Text &result) {
    const std::size_t start = at_;
    std::uint64_t length = 0;
    if (!number(8, length))
      return false;
    if (length > max_size)
      return fail_value("a string of " + std::to_string(length) + " bytes, more than " +
                            std::to_string(max_size),
                        start);
    const std::uint8_t *const first = bytes(length);
    if (first == nullptr)
      return false;
    result.assign(first, first + length);
    return is_utf8({result.data(), result.size()}) || fail_value("not UTF-8", start);
  }

  // Reads the type of a value.
  bool kind(std::uint32_t &result) {
    std::uint64_t read = 0;
    if (!number(4, read))
      return false;
    result = static_cast<std::uint32_t>(read);
    return result < Gguf::COUNT ||
           fail_value("of unknown type " + std::to_string(result), at_ - 4);
  }

  // Reads a number of `width` bytes.
  bool number(std::size_t width, std::uint64_t &bits) {
    const std::uint8_t *const first = bytes(width);
    if (first == nullptr)
      return false;
    bits = 0;
    for (std::size_t i = 0; i < width; ++i)
      bits = bits << 8 | first[big_endian_ ? i : width - 1 - i];
    return true;
  }

  // Fails if a flag is neither 0 nor 1.
  bool flag(std::uint64_t bits) {
    return bits <= 1 ||
           fail_value("the byte " + std::to_string(bits) + "; expected 0 (false) or 1 (true)",
                      at_ - 1);
  }

  bool skip(std::uint64_t length) {
    if (length > size_ - at_)
      return cut_off(std::to_string(length));
    at_ += static_cast<std::size_t>(length);
    return true;
  }

  // Reads past the next `count` bytes, and returns a pointer to them, which is valid until the
  // next call. Fails and returns nullptr if the file has fewer bytes left.
  const std::uint8_t *bytes(std::uint64_t count) {
    const std::size_t start = at_;
    if (!skip(count))
      return nullptr;
    if (at_ > window_start_ + window_.size() && !read_on(start)) {
      at_ = start;
      cut_off(std::to_string(count));
      return nullptr;
    }
    return window_.data() + (start - window_start_);
  }

  // Fills the window with a block of the file that begins at `start` and reaches at least to
  // `at_`. Returns false if the file ends before `at_`.
  bool read_on(std::size_t start) {
    const std::size_t end = window_start_ + window_.size();
    const std::size_t kept = end > start ? end - start : 0;
    window_.erase(window_.begin(), window_.end() - static_cast<std::ptrdiff_t>(kept));
    window_start_ = start;
    window_.resize(std::min(std::max(at_ - start, READ_BLOCK_BYTES), size_ - start));
    const std::size_t wanted = window_.size() - kept;
    const std::size_t got = file_.read(start + kept, window_.data() + kept, wanted);
    window_.resize(kept + got);
    if (got < wanted)
      size_ = start + kept + got;
    return start + window_.size() >= at_;
  }

  static bool is_negative(std::uint64_t bits, std::size_t width) {
    return (bits >> (8 * width - 1) & 1) != 0;
  }
  // Returns the absolute value of a negative number in two's complement.
  static std::uint64_t magnitude(std::uint64_t bits, std::size_t width) {
    return width == 8 ? ~bits + 1 : (std::uint64_t{1} << 8 * width) - bits;
  }

  // Returns the integer that `bits` store, but at least -INT64_MAX and at most INT64_MAX.
  // Returns NOT_WHOLE if `type` is not an integer type.
  static std::int64_t to_int64(std::uint32_t type, std::uint64_t bits) {
    if (is_float(type) || type == Gguf::BOOL)
      return GgufValue::NOT_WHOLE;
    if (is_signed(type) && is_negative(bits, Gguf::WIDTHS[type]))
      return -static_cast<std::int64_t>(
          std::min<std::uint64_t>(magnitude(bits, Gguf::WIDTHS[type]), INT64_MAX));
    return static_cast<std::int64_t>(std::min<std::uint64_t>(bits, INT64_MAX));
  }

  // Fails because the value at offset `at` is `what`.
  bool fail_value(const std::string &what, std::size_t at) {
    error_ = malformed(name_, ", at offset ", at, ", is ", what, "; the file is damaged");
    return false;
  }

  // Fails because fewer than `length` bytes are left.
  bool cut_off(const std::string &length) {
    const char *const limit =
        size_ == MAX_METADATA ? "metadata is limited to " : "the file has only ";
    error_ = malformed(name_, " needs ", length, " bytes at offset ", at_, ", but ", limit,
                       size_, " bytes; the file is truncated or damaged");
    return false;
  }

  ByteSource &file_;
  std::size_t size_;
  std::vector<GgufValue> &values_;
  std::size_t at_ = 4;               // the next offset to read; 4 is the end of "GGUF"
  std::vector<std::uint8_t> window_; // a block of the file, from offset `window_start_` on
  std::size_t window_start_ = 4;
  bool big_endian_ = false;
  std::string name_ = "the version"; // the field or key that is being read, for errors
  LoadError error_;
};

} // namespace

std::string GgufValue::description() const {
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
    return named + pretok::quote(text);
  case STRINGS:
    return named + "an array of " + std::to_string(texts.size()) + " strings";
  case NUMBERS:
    return named + "an array of " + std::to_string(numbers.size()) + " numbers";
  }
  return named;
}

LoadError read_gguf_metadata(ByteSource &file, std::vector<GgufValue> &values) {
  return MetadataReader(file, values).read();
}

} // namespace pretok
