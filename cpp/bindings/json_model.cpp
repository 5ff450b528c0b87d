#include "bindings/json_model.hpp"

#include "core/base/ids.hpp"
#include "core/corpus/json_reader.hpp"
#include "core/corpus/utf8_check.hpp"
#include "formats/json_limits.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace pretok {

class JsonModel::Scanner {
public:
  Scanner(std::string_view file, JsonModel &model)
      : file_(file), model_(model), json_(without_mark(file)) {}

  bool read() {
    if (!is_utf8(reinterpret_cast<const std::uint8_t *>(file_.data()), file_.size()))
      return false;
    bool has_model = false;
    const bool is_object = members([&](std::string_view name) {
      if (name != "model")
        return is_part(name) && skip_value();
      return !std::exchange(has_model, true) && read_model();
    });
    return is_object && has_model && model_.vocab_.end != 0 && model_.merges_.end != 0;
  }

private:
  static std::string_view without_mark(std::string_view file) {
    constexpr std::string_view BYTE_ORDER_MARK = "\xEF\xBB\xBF";
    const bool has_mark = file.substr(0, BYTE_ORDER_MARK.size()) == BYTE_ORDER_MARK;
    return file.substr(has_mark ? BYTE_ORDER_MARK.size() : 0);
  }

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
    json_.skip_space();
    const auto start = static_cast<std::size_t>(json_.at() - file_.data());
    if (span.end != 0 || !read())
      return false;
    span = {start, static_cast<std::size_t>(json_.at() - file_.data())};
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
      const bool is_pair =
          take('[') ? string(merge.left) && take(',') && string(merge.right) && take(']')
                    : string(both) && split_merge(both, merge);
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
    if (take(close))
      return true;
    do {
      if (!read())
        return false;
    } while (take(','));
    return take(close);
  }

  bool take(char expected) {
    json_.skip_space();
    return json_.skip(expected);
  }

  bool skip_value() {
    json_.skip_space();
    return json_.skip_value();
  }

  bool number(std::uint32_t &value) {
    json_.skip_space();
    const char *const start = json_.at();
    if (!json_.skip_value())
      return false;
    const auto [end, error] = std::from_chars(start, json_.at(), value);
    return error == std::errc() && end == json_.at() && value < ID_LIMIT;
  }

  // Reads a string. A view of the file is the text, unless the text has escapes.
  bool string(std::string_view &text) {
    json_.skip_space();
    const JsonReader start = json_;
    bool has_escape = false;
    if (!json_.string(text, has_escape))
      return false;
    if (has_escape)
      text = unescaped(start, text.size());
    return true;
  }

  // Returns the string that begins at `json`. It is valid, and has `size` bytes with escapes.
  std::string_view unescaped(JsonReader json, std::size_t size) {
    std::vector<std::uint8_t> bytes(size + JsonReader::COPY_ROOM);
    json.copy_string(bytes.data(), size);
    return model_.unescaped_.emplace_back(bytes.begin(),
                                          bytes.begin() + static_cast<std::ptrdiff_t>(size));
  }

  const std::string_view file_;
  JsonModel &model_;
  JsonReader json_;
};

bool JsonModel::read(std::string_view file) {
  if (file.size() > MAX_JSON_BYTES ||
      count_json_containers(file) > max_json_containers(file.size()) ||
      !Scanner(file, *this).read() || source_.texts.empty())
    return false;
  places_.emplace(source_.texts);
  return places_->size() == source_.texts.size();
}

} // namespace pretok
