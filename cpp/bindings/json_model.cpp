#include "bindings/json_model.hpp"

#include "core/base/ids.hpp"
#include "core/unicode/utf8.hpp"
#include "formats/load_error.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace pretok {

class JsonModel::Scanner {
public:
  Scanner(std::string_view file, JsonModel &model) : file_(file), model_(model) {}

  bool read() {
    if (file_.substr(0, BYTE_ORDER_MARK.size()) == BYTE_ORDER_MARK)
      at_ = BYTE_ORDER_MARK.size();
    bool has_model = false;
    const bool is_object = members([&](std::string_view name) {
      if (name != "model")
        return is_part(name) && skip_value();
      return !std::exchange(has_model, true) && read_model();
    });
    return is_object && has_model && model_.vocab_.end != 0 && model_.merges_.end != 0;
  }

private:
  static constexpr std::string_view BYTE_ORDER_MARK = "\xEF\xBB\xBF";

  static bool is_part(std::string_view name) {
    constexpr std::array<std::string_view, 8> PARTS = {
        "version",    "truncation",    "padding",        "added_tokens",
        "normalizer", "pre_tokenizer", "post_processor", "decoder"};
    return std::find(PARTS.begin(), PARTS.end(), name) != PARTS.end();
  }

  bool read_model() {
    return members([&](std::string_view name) {
      if (name == "vocab")
        return within(model_.vocab_, [&] { return read_vocab(); });
      if (name == "merges")
        return within(model_.merges_, [&] { return read_merges(); });
      return skip_value();
    });
  }

  // Sets `span` to the value that `read` reads. Returns false if the span is set already.
  template <typename Read> bool within(JsonSpan &span, Read read) {
    skip_spaces();
    const std::size_t start = at_;
    if (span.end != 0 || !read())
      return false;
    span = {start, at_};
    return true;
  }

  bool read_vocab() {
    TextModel &source = model_.source_;
    std::vector<bool> seen;
    return members([&](std::string_view text) {
      std::uint32_t id = 0;
      if (!number(id))
        return false;
      if (id >= seen.size())
        seen.resize(std::max<std::size_t>(std::size_t{id} + 1, seen.size() * 2));
      if (seen[id])
        return false;
      seen[id] = true;
      source.texts.push_back(text);
      source.ids.push_back(id);
      return true;
    });
  }

  bool read_merges() {
    return items('[', ']', [&] {
      TextMerge merge;
      std::string_view both;
      bool is_pair = false;
      if (peek() == '"') {
        is_pair = string(both) && split_merge(both, merge);
      } else {
        std::size_t index = 0;
        is_pair = items('[', ']',
                        [&] {
                          std::string_view extra;
                          ++index;
                          return index <= 2 && string(index == 1 ? merge.left : merge.right);
                        }) &&
                  index == 2;
      }
      if (is_pair)
        model_.source_.merges.push_back(merge);
      return is_pair;
    });
  }

  // Calls read(name) for each member of an object. It reads the value of the member.
  template <typename Read> bool members(Read read) {
    return items('{', '}', [&] {
      std::string_view name;
      return string(name) && take(':') && read(name);
    });
  }

  // Calls `read` for each item between the brackets `open` and `close`.
  template <typename Read> bool items(char open, char close, Read read) {
    if (!take(open))
      return false;
    if (peek() == close)
      return take(close);
    do {
      if (!read())
        return false;
    } while (take(','));
    return take(close);
  }

  char peek() {
    skip_spaces();
    return at_ < file_.size() ? file_[at_] : '\0';
  }

  bool take(char expected) {
    if (peek() != expected)
      return false;
    ++at_;
    return true;
  }

  void skip_spaces() {
    while (at_ < file_.size() && (file_[at_] == ' ' || file_[at_] == '\n' ||
                                  file_[at_] == '\r' || file_[at_] == '\t'))
      ++at_;
  }

  bool number(std::uint32_t &value) {
    peek();
    const std::size_t start = at_;
    value = 0;
    while (at_ < file_.size() && file_[at_] >= '0' && file_[at_] <= '9' && value < ID_LIMIT)
      value = value * 10 + static_cast<std::uint32_t>(file_[at_++] - '0');
    const std::size_t size = at_ - start;
    if (size == 0 || (size > 1 && file_[start] == '0') || value >= ID_LIMIT)
      return false;
    // For a number such as 1.0, return false: Python then reads the file, and raises the error.
    return peek() == ',' || peek() == '}';
  }

  // Reads a string. A view of the file is the text, unless the text has escapes.
  bool string(std::string_view &text) {
    if (!take('"'))
      return false;
    const std::size_t start = at_;
    std::uint8_t all = 0; // the bytes, combined by OR
    for (; at_ < file_.size(); ++at_) {
      const auto byte = static_cast<std::uint8_t>(file_[at_]);
      if (byte == '"' || byte == '\\')
        break;
      if (byte < 0x20)
        return false;
      all |= byte;
    }
    if (at_ == file_.size())
      return false;
    text = file_.substr(start, at_ - start);
    if (all >= 0x80 && !is_utf8(text))
      return false;
    return file_[at_++] == '"' || unescape(text, --at_);
  }

  // Reads the rest of a string that has an escape at `at`. `text` is the text before it.
  bool unescape(std::string_view &text, std::size_t at) {
    std::string result(text);
    for (at_ = at; at_ < file_.size(); ++at_) {
      const char byte = file_[at_];
      if (byte == '"') {
        ++at_;
        model_.unescaped_.push_back(std::move(result));
        text = model_.unescaped_.back();
        return is_utf8(text);
      }
      if (static_cast<std::uint8_t>(byte) < 0x20)
        return false;
      if (byte != '\\')
        result += byte;
      else if (!escape(result))
        return false;
    }
    return false;
  }

  // Appends the character of the escape at `at_`, and moves to its last byte.
  bool escape(std::string &text) {
    constexpr std::string_view NAMES = "\"\\/bfnrt";
    constexpr std::string_view VALUES = "\"\\/\b\f\n\r\t";
    if (++at_ >= file_.size())
      return false;
    const std::size_t name = NAMES.find(file_[at_]);
    if (name != std::string_view::npos) {
      text += VALUES[name];
      return true;
    }
    std::uint32_t code_point = 0;
    if (!unit(code_point))
      return false;
    if (code_point >= 0xD800 && code_point < 0xE000) {
      if (code_point >= 0xDC00 || file_.substr(at_ + 1, 1) != "\\")
        return false;
      at_ += 2;
      std::uint32_t low = 0;
      if (!unit(low) || low < 0xDC00 || low >= 0xE000)
        return false;
      code_point = 0x10000 + ((code_point - 0xD800) << 10) + (low - 0xDC00);
    }
    std::array<std::uint8_t, 4> bytes{};
    const std::size_t size = encode_utf8(code_point, bytes.data());
    text.append(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    return true;
  }

  // Reads the "uXXXX" of an escape at `at_`, and moves to its last byte.
  bool unit(std::uint32_t &value) {
    if (file_.size() - at_ < 5 || file_[at_] != 'u')
      return false;
    value = 0;
    for (int i = 0; i < 4; ++i) {
      constexpr std::string_view DIGITS = "0123456789abcdefABCDEF";
      const std::size_t digit = DIGITS.find(file_[++at_]);
      if (digit == std::string_view::npos)
        return false;
      value = value << 4 | static_cast<std::uint32_t>(digit < 16 ? digit : digit - 6);
    }
    return true;
  }

  // Skips a value, which need not be valid JSON: Python reads it later, and refuses invalid
  // JSON.
  bool skip_value() {
    std::size_t depth = 0;
    do {
      const char next = peek();
      if (next == '"') {
        if (!skip_string())
          return false;
      } else if (next == '{' || next == '[') {
        ++depth;
        ++at_;
      } else if (next == '}' || next == ']') {
        if (depth == 0)
          return false;
        --depth;
        ++at_;
      } else if (at_ == file_.size()) {
        return false;
      } else if (depth != 0 || (next != ',' && next != ':')) {
        ++at_;
        if (depth == 0)
          skip_word();
      } else {
        return false;
      }
    } while (depth != 0);
    return true;
  }

  // Skips the rest of a number, or of true, false or null.
  void skip_word() {
    while (at_ < file_.size() &&
           std::string_view(",:]}\" \n\r\t").find(file_[at_]) == std::string_view::npos)
      ++at_;
  }

  bool skip_string() {
    for (++at_; at_ < file_.size(); ++at_) {
      if (file_[at_] == '"') {
        ++at_;
        return true;
      }
      at_ += file_[at_] == '\\' ? 1 : 0;
    }
    return false;
  }

  const std::string_view file_;
  JsonModel &model_;
  std::size_t at_ = 0;
};

bool JsonModel::read(std::string_view file) {
  constexpr std::size_t MAX_BYTES = std::size_t{1} << 27;
  const auto brackets = static_cast<std::size_t>(std::count(file.begin(), file.end(), '[') +
                                                 std::count(file.begin(), file.end(), '{'));
  if (file.size() > MAX_BYTES || brackets > 1000 + file.size() / 8 ||
      !Scanner(file, *this).read() || source_.texts.empty())
    return false;
  places_.emplace(source_.texts);
  return places_->size() == source_.texts.size();
}

} // namespace pretok
