#include "core/json/json_document.hpp"

#include "core/unicode/utf8_check.hpp"

#include <algorithm>

namespace pretok {

bool JsonStrings::read(JsonReader &json, std::string_view &text) {
  const JsonReader start = json;
  bool has_escape = false;
  if (!json.string(text, has_escape))
    return false;
  if (!has_escape)
    return true;
  // All strings together are shorter than the text.
  if (!unescaped_)
    unescaped_.reset(new std::uint8_t[size_ + JsonReader::COPY_ROOM]);
  std::uint8_t *const to = unescaped_.get() + used_;
  std::size_t size = 0;
  JsonReader again = start;
  again.copy_string(to, size);
  used_ += size;
  text = {reinterpret_cast<const char *>(to), size};
  return true;
}

// Appends the values of a text to a document.
class JsonDocument::Builder {
public:
  Builder(JsonDocument &document, Take take)
      : values_(document.values_), strings_(document.strings_), take_(take) {}

  bool string(JsonReader &json) {
    std::string_view text;
    if (!strings_.read(json, text))
      return false;
    add(text, JsonKind::STRING);
    return true;
  }

  void scalar(std::string_view text) {
    add(text, text[0] == 't'   ? JsonKind::TRUE_WORD
              : text[0] == 'f' ? JsonKind::FALSE_WORD
              : text[0] == 'n' ? JsonKind::NULL_WORD
                               : JsonKind::NUMBER);
  }

  bool container(JsonReader &json, int depth) {
    constexpr int OUTER = 1; // the depth of a member of the whole text
    const bool is_object = *json.at() == '{';
    if (depth == OUTER)
      outer_ = is_object && values_.front().kind == JsonKind::OBJECT ? values_.size() : 0;
    if (depth == OUTER + 1 && outer_ != 0) {
      const char *const start = json.at();
      const JsonTaken taken =
          take_(values_[outer_ - 1].text(), values_.back().text(), json, strings_);
      if (taken == JsonTaken::YES)
        close(open(start));
      if (taken != JsonTaken::NO)
        return taken == JsonTaken::YES;
    }
    return json.read_container(*this, depth);
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

  std::vector<JsonValue> &values_;
  JsonStrings &strings_;
  const Take take_;
  std::size_t outer_ = 0; // the place of the last object in a member of the text, or 0
};

bool JsonDocument::read(std::string_view text) {
  return read(text, [](std::string_view, std::string_view, JsonReader &, JsonStrings &) {
    return JsonTaken::NO;
  });
}

bool JsonDocument::read(std::string_view text, Take take) {
  text_ = text;
  strings_.reserve(text.size());
  if (!is_utf8(reinterpret_cast<const std::uint8_t *>(text.data()), text.size()))
    return false;
  Builder builder(*this, take);
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

bool JsonDocument::has_duplicate() const {
  std::vector<std::string_view> names;
  for (std::size_t place = 0; place < size(); ++place) {
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
