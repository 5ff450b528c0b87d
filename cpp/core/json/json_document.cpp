#include "core/json/json_document.hpp"

#include "core/unicode/utf8_check.hpp"

#include <algorithm>

namespace pretok {

// Appends the values of a text to a document.
class JsonDocument::Builder {
public:
  Builder(std::string_view text, JsonDocument &document)
      : text_size_(text.size()), values_(document.values_), unescaped_(document.unescaped_) {}

  bool string(JsonReader &json) {
    const JsonReader start = json;
    std::string_view text;
    bool has_escape = false;
    if (!json.string(text, has_escape))
      return false;
    add(has_escape ? unescaped(start) : text, JsonKind::STRING);
    return true;
  }

  void scalar(std::string_view text) {
    add(text, text[0] == 't'   ? JsonKind::TRUE_WORD
              : text[0] == 'f' ? JsonKind::FALSE_WORD
              : text[0] == 'n' ? JsonKind::NULL_WORD
                               : JsonKind::NUMBER);
  }

  std::size_t open(const char *start) {
    add({start, 0}, *start == '{' ? JsonKind::OBJECT : JsonKind::LIST);
    return values_.size();
  }

  void close(std::size_t first) {
    values_[first - 1].size = static_cast<std::uint32_t>(values_.size() - first);
  }

private:
  void add(std::string_view text, JsonKind kind) {
    values_.push_back({text.data(), static_cast<std::uint32_t>(text.size()), kind});
  }

  // Returns a valid string, which begins at `json`, without its escapes.
  std::string_view unescaped(JsonReader json) {
    // All strings together are shorter than the text.
    if (!unescaped_)
      unescaped_.reset(new std::uint8_t[text_size_ + JsonReader::COPY_ROOM]);
    std::uint8_t *const to = unescaped_.get() + used_;
    std::size_t size = 0;
    json.copy_string(to, size);
    used_ += size;
    return {reinterpret_cast<const char *>(to), size};
  }

  std::size_t text_size_;
  std::vector<JsonValue> &values_;
  std::unique_ptr<std::uint8_t[]> &unescaped_;
  std::size_t used_ = 0; // of unescaped_
};

bool JsonDocument::read(std::string_view text) {
  text_ = text;
  if (!is_utf8(reinterpret_cast<const std::uint8_t *>(text.data()), text.size()))
    return false;
  constexpr std::size_t USUAL_BYTES = 8; // of a value in a tokenizer.json
  values_.reserve(text.size() / USUAL_BYTES);
  Builder builder(text, *this);
  JsonReader json(text);
  json.skip_space();
  bool is_read = json.read_value(builder);
  if (is_read)
    json.skip_space();
  error_offset_ = json.since(text.data()).size();
  return is_read && json.is_at_end();
}

std::string_view JsonDocument::json(std::size_t place) const {
  const char *const start = values_[place].start;
  JsonReader json(text_.substr(static_cast<std::size_t>(start - text_.data())));
  json.skip_value();
  return json.since(start);
}

bool JsonDocument::has_duplicate(std::size_t except) const {
  std::vector<std::string_view> names;
  for (std::size_t place = 0; place < size(); ++place) {
    if (place == except) {
      place = after(place) - 1;
      continue;
    }
    if (values_[place].kind != JsonKind::OBJECT)
      continue;
    names.clear();
    for (std::size_t at = place + 1; at < after(place); at = after(at + 1))
      names.push_back(values_[at].text());
    std::sort(names.begin(), names.end());
    if (std::adjacent_find(names.begin(), names.end()) != names.end())
      return true;
  }
  return false;
}

} // namespace pretok
