#include "core/corpus/json_lines.hpp"

#include "core/json/json_reader.hpp"
#include "core/unicode/utf8_check.hpp"

#include <cstring>

namespace pretok {
namespace {

// Reads a line of json_texts. Writes the string of `field` to `text`, which has room for the
// size of the line and JsonReader::COPY_ROOM bytes more, and sets `size`. Returns false if it
// cannot read the line: the line is malformed, the name of a member has an escape, `field` is
// missing or not a string, or a value is unusual (json_lines.hpp). Then json_texts sets
// JsonText::is_known to false, and another JSON parser reads the line.
bool read_json_line(std::string_view line, std::string_view field, std::uint8_t *text,
                    std::size_t &size) {
  JsonReader json(line);
  json.skip_space();
  if (!json.skip('{'))
    return false;
  bool has_text = false;
  do {
    std::string_view name;
    bool has_escape = false;
    json.skip_space();
    if (!json.string(name, has_escape) || has_escape)
      return false;
    json.skip_space();
    if (!json.skip(':'))
      return false;
    json.skip_space();
    const bool is_field = name == field;
    if (!(is_field ? json.copy_string(text, size) : json.skip_value()))
      return false;
    has_text |= is_field;
    json.skip_space();
  } while (json.skip(','));
  if (!json.skip('}'))
    return false;
  json.skip_space();
  return has_text && json.is_at_end();
}

} // namespace

void json_texts(const std::uint8_t *data, std::size_t size, std::string_view field,
                std::vector<std::uint8_t> &text, std::vector<JsonText> &texts) {
  // No text is longer than its line.
  const std::size_t begin = text.size();
  text.resize(begin + size + JsonReader::COPY_ROOM);
  std::size_t used = begin;
  const std::uint8_t *const end = data + size;
  const bool all_utf8 = is_utf8(data, size);
  while (data != end) {
    const void *newline = std::memchr(data, '\n', static_cast<std::size_t>(end - data));
    const auto *stop = newline == nullptr ? end : static_cast<const std::uint8_t *>(newline);
    const std::string_view line(reinterpret_cast<const char *>(data),
                                static_cast<std::size_t>(stop - data));
    JsonText result;
    result.start = used;
    result.is_known = (all_utf8 || is_utf8(data, line.size())) &&
                      read_json_line(line, field, text.data() + used, result.size);
    if (result.is_known)
      used += result.size;
    texts.push_back(result);
    data = newline == nullptr ? end : stop + 1;
  }
  text.resize(used);
}

} // namespace pretok
