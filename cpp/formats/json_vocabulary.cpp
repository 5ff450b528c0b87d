#include "formats/json_readers.hpp"

#include "core/base/ids.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace pretok {
namespace {

// Calls item() at each item of a list, or at each member of an object, which begins at `json`.
// Returns false if the JSON is not valid.
template <typename Item> bool read_items(JsonReader &json, char opening, Item item) {
  const char closing = opening == '{' ? '}' : ']';
  json.skip(opening);
  json.skip_space();
  if (json.skip(closing))
    return true;
  do {
    json.skip_space();
    if (!item())
      return false;
    json.skip_space();
  } while (json.skip(','));
  return json.skip(closing);
}

// Sets the error of the entry `text` of the vocabulary, unless there is an error already.
void fail_entry(std::string_view text, const std::string &expected, LoadError &error) {
  if (!error)
    error = malformed("model.vocab[" + quote(text) + "] is not " + expected);
}

// Reads the texts of a merge. Sets `is_pair` to whether there are exactly two.
bool read_sides(JsonReader &json, JsonStrings &strings, TextMerge &merge, bool &is_pair) {
  std::size_t count = 0;
  bool are_texts = true;
  const bool is_read = read_items(json, '[', [&] {
    if (json.is_at_end() || *json.at() != '"') {
      are_texts = false;
      return json.skip_value();
    }
    return strings.read(json, count++ == 0 ? merge.left : merge.right);
  });
  is_pair = are_texts && count == 2;
  return is_read;
}

} // namespace

bool read_json_vocab(JsonReader &json, JsonStrings &strings, TextModel &model,
                     LoadError &error) {
  std::vector<bool> seen;
  return read_items(json, '{', [&] {
    std::string_view text;
    if (!strings.read(json, text))
      return false;
    json.skip_space();
    if (!json.skip(':'))
      return false;
    json.skip_space();
    std::uint32_t id = 0;
    const bool is_short = json.short_number(id);
    if (!is_short || id >= ID_LIMIT) {
      fail_entry(text, "a number from 0 to " + std::to_string(ID_LIMIT - 1), error);
      return is_short || json.skip_value();
    }
    if (id >= seen.size())
      seen.resize(std::max<std::size_t>(std::size_t{id} + 1, seen.size() * 2));
    if (seen[id])
      fail_entry(text, "a unique id", error);
    seen[id] = true;
    model.texts.push_back(text);
    model.ids.push_back(id);
    return true;
  });
}

bool read_json_merges(JsonReader &json, JsonStrings &strings, TextModel &model,
                      LoadError &error) {
  return read_items(json, '[', [&] {
    TextMerge &merge = model.merges.emplace_back();
    const char *const start = json.at();
    const char first = json.is_at_end() ? ' ' : *start;
    std::string_view both;
    bool is_merge = false;
    const bool is_read = first == '"'   ? strings.read(json, both)
                         : first == '[' ? read_sides(json, strings, merge, is_merge)
                                        : json.skip_value();
    if (first == '"')
      is_merge = split_merge(both, merge);
    if (!is_merge && !error)
      error = malformed("model.merges[" + std::to_string(model.merges.size() - 1) + "] is " +
                        (first == '"'   ? quote(both)
                         : first == '[' ? "a list"
                         : first == '{' ? "an object"
                                        : std::string(json.since(start).substr(0, 40))) +
                        "; expected two tokens, as \"a b\" or [\"a\", \"b\"]");
    return is_read;
  });
}

} // namespace pretok
