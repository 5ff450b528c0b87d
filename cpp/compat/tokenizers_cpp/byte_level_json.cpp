#include "compat/tokenizers_cpp/byte_level_json.hpp"

#include "core/json/json_reader.hpp"
#include "core/json/json_text.hpp"
#include "core/unicode/utf8.hpp"

#include <cstdint>
#include <map>

namespace pretok {
namespace {

using Ids = std::map<std::string, std::uint32_t>; // by token

// Adds the members of a JSON object whose values are ids, and ignores other types of values.
// Returns false if `text` is not a JSON object, or a number is no id below 1,000,000,000.
bool read_ids(std::string_view text, Ids &ids) {
  if (!is_utf8(text))
    return false;
  JsonReader reader(text);
  reader.skip_space();
  if (!reader.skip('{'))
    return false;
  reader.skip_space();
  for (bool is_first = true; !reader.skip('}'); is_first = false) {
    if (!is_first && !reader.skip(','))
      return false;
    reader.skip_space();
    JsonReader copy = reader;
    const char *const start = reader.at();
    if (!reader.skip_string())
      return false;
    std::string token(reader.since(start).size() + JsonReader::COPY_ROOM, '\0');
    std::size_t size = 0;
    if (!copy.copy_string(reinterpret_cast<std::uint8_t *>(token.data()), size))
      return false;
    token.resize(size);
    reader.skip_space();
    if (!reader.skip(':'))
      return false;
    reader.skip_space();
    std::uint32_t id = 0;
    const char *const value = reader.at();
    if (reader.short_number(id) && reader.at() != value) {
      ids[token] = id;
    } else {
      if (!reader.skip_value())
        return false;
      const char first = *value;
      if (first == '-' || (first >= '0' && first <= '9'))
        return false;
    }
    reader.skip_space();
  }
  reader.skip_space();
  return reader.is_at_end();
}

LoadError append_merges(std::string_view merges, std::string &json) {
  bool is_first = true;
  for (std::size_t line_number = 1; !merges.empty(); ++line_number) {
    const std::size_t end = merges.find('\n');
    std::string_view line = merges.substr(0, end);
    merges.remove_prefix(end == std::string_view::npos ? merges.size() : end + 1);
    if (!line.empty() && line.back() == '\r')
      line.remove_suffix(1);
    if (line.substr(0, 8) == "#version")
      continue;
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos)
      return malformed("line ", line_number, " of the merges is ", quote(line),
                       "; expected two tokens with one space between them");
    json += is_first ? "[" : ",[";
    is_first = false;
    append_json_string(line.substr(0, space), json);
    json += ',';
    append_json_string(line.substr(space + 1), json);
    json += ']';
  }
  return {};
}

} // namespace

LoadError write_byte_level_json(std::string_view vocabulary, std::string_view merges,
                                std::string_view added, std::string &json) {
  Ids ids;
  if (!read_ids(vocabulary, ids))
    return malformed("expected a JSON object of tokens and their ids, which are below "
                     "1,000,000,000, as vocabulary");
  if (!added.empty() && !read_ids(added, ids))
    return malformed("expected a JSON object of tokens and their ids, which are below "
                     "1,000,000,000, as added tokens");
  if (!is_utf8(merges))
    return malformed("expected merges in UTF-8");
  constexpr char BYTE_LEVEL[] = R"({"type":"ByteLevel","add_prefix_space":false,)"
                                R"("trim_offsets":false,"use_regex":false})";
  json = R"({"version":"1.0","added_tokens":[],"normalizer":null,"post_processor":null,)";
  json.append(R"("pre_tokenizer":)").append(BYTE_LEVEL);
  json.append(R"(,"decoder":)").append(BYTE_LEVEL);
  json += R"(,"model":{"type":"BPE","vocab":{)";
  bool is_first = true;
  for (const auto &[token, id] : ids) {
    if (!is_first)
      json += ',';
    is_first = false;
    append_json_string(token, json);
    json.append(":").append(std::to_string(id));
  }
  json += R"(},"merges":[)";
  LoadError error = append_merges(merges, json);
  json += "]}}";
  return error;
}

} // namespace pretok
