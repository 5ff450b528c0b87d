#include "formats/json_split.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// A pre_tokenizer that splits like a built-in preset.
struct KnownSplit {
  std::string_view preset;
  std::string_view parts; // of the pre_tokenizer, in the format of write_part
};

#include "formats/generated/pre_tokenizers.inc"

constexpr std::size_t MAX_DEPTH = 16;

// Appends a value to `to` in a canonical form: equal values give equal text. Returns false if
// the value contains something that no known pre_tokenizer contains: null, a fraction, or more
// than MAX_DEPTH levels of objects and lists. cpp/generate/presets.py writes the same form.
bool write_part(element value, std::string &to, std::size_t depth = 0) {
  object members;
  array items;
  std::string_view text;
  bool flag = false;
  std::int64_t number = 0;
  if (depth == MAX_DEPTH)
    return false;
  if (value.get(members) == simdjson::SUCCESS) {
    std::vector<std::pair<std::string_view, element>> sorted;
    for (const auto &[name, member] : members)
      sorted.emplace_back(name, member);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto &a, const auto &b) { return a.first < b.first; });
    to += '{';
    for (const auto &[name, member] : sorted) {
      to += std::to_string(name.size()) + ':';
      to += name;
      if (!write_part(member, to, depth + 1))
        return false;
    }
    to += '}';
  } else if (value.get(items) == simdjson::SUCCESS) {
    to += '[';
    for (const element item : items)
      if (!write_part(item, to, depth + 1))
        return false;
    to += ']';
  } else if (value.get(text) == simdjson::SUCCESS) {
    to += std::to_string(text.size()) + ':';
    to += text;
  } else if (value.get(flag) == simdjson::SUCCESS) {
    to += flag ? 'T' : 'F';
  } else if (value.get(number) == simdjson::SUCCESS) {
    to += '#' + std::to_string(number) + ';';
  } else {
    return false;
  }
  return true;
}

// Reads the members of a ByteLevel. Leaves `use_regex` unchanged if there is no such member.
// Returns false if the ByteLevel lacks any other member, or has an unknown member.
bool read_byte_level(const JsonPart &part, bool &add_prefix_space, bool &use_regex) {
  object members;
  bool trims = false;
  bool is_byte_level = part.value.get(members) == simdjson::SUCCESS &&
                       members["add_prefix_space"].get(add_prefix_space) == simdjson::SUCCESS &&
                       members["trim_offsets"].get(trims) == simdjson::SUCCESS;
  std::size_t member_count = 3;
  element member;
  if (is_byte_level && members["use_regex"].get(member) == simdjson::SUCCESS) {
    is_byte_level = member.get(use_regex) == simdjson::SUCCESS;
    member_count = 4;
  }
  return is_byte_level && members.size() == member_count;
}

} // namespace

bool read_split(const JsonPart &file, TokenizerSpec &spec, LoadError &error) {
  JsonPart split;
  std::vector<JsonPart> parts;
  if (!file.get("pre_tokenizer", split, error) || !split.parts("pretokenizers", parts, error))
    return false;
  std::string written;
  bool add_prefix_space = false;
  spec.why_no_preset = "no built-in preset has the same pre_tokenizer as the file";
  std::string_view kind;
  if (parts.empty() || !parts.back().is_present)
    return true;
  if (!parts.back().kind(kind, error))
    return false;
  if (kind != "ByteLevel")
    return true;
  for (const JsonPart &part : parts) {
    bool use_regex = true;
    if (!part.is_present)
      return true;
    if (!part.kind(kind, error))
      return false;
    if (kind != "ByteLevel") {
      if (!write_part(part.value, written))
        return true;
      // With several parts, add_prefix_space may put a space before each piece, not only before
      // the text. pretok does not do this, so such a file gets no preset.
    } else if (!read_byte_level(part, add_prefix_space, use_regex) ||
               (add_prefix_space && parts.size() > 1)) {
      return true;
    } else {
      written += use_regex ? "BYTES+GPT2" : "BYTES";
    }
  }
  for (const KnownSplit &known : KNOWN_SPLITS)
    if (known.parts == written) {
      spec.preset = known.preset;
      spec.why_no_preset.clear();
      spec.add_prefix_space = add_prefix_space;
      break;
    }
  return true;
}

} // namespace pretok
