#include "formats/json_part.hpp"

#include "core/base/ids.hpp"

#include <algorithm>

namespace pretok {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

// The maximum number of parts of a pre_tokenizer, normalizer or post_processor. Each Sequence
// in it counts as a part too.
constexpr std::size_t MAX_PARTS = 256;

std::string JsonPart::description() const {
  const std::string named = (path.empty() ? std::string("the file") : path) + " is ";
  if (!is_present)
    return named + "missing or null";
  switch (value.type()) {
  case element_type::OBJECT:
    return named + "an object";
  case element_type::ARRAY:
    return named + "a list";
  case element_type::STRING: {
    std::string_view text;
    return value.get(text) == simdjson::SUCCESS ? named + pretok::quote(text) : named;
  }
  case element_type::INT64:
  case element_type::UINT64: {
    std::int64_t number = 0;
    return named +
           (value.get(number) == simdjson::SUCCESS ? std::to_string(number) : "a large number");
  }
  case element_type::DOUBLE:
    return named + "a floating-point number";
  case element_type::BOOL: {
    bool flag = false;
    return named + (value.get(flag) == simdjson::SUCCESS && flag ? "true" : "false");
  }
  case element_type::NULL_VALUE:
    break;
  }
  return named + "null";
}

LoadError JsonPart::malformed(const std::string &expected) const {
  return pretok::malformed(description() + "; expected " + expected);
}

LoadError JsonPart::unsupported(const std::string &advice) const {
  return pretok::unsupported(description() + ", which is not supported: " + advice);
}

bool JsonPart::object(simdjson::dom::object &result, LoadError &error) const {
  if (is_present && value.get(result) == simdjson::SUCCESS)
    return true;
  error = malformed("an object");
  return false;
}

bool JsonPart::list(simdjson::dom::array &result, LoadError &error) const {
  if (is_present && value.get(result) == simdjson::SUCCESS)
    return true;
  error = malformed("a list");
  return false;
}

bool JsonPart::items(std::vector<JsonPart> &result, LoadError &error) const {
  simdjson::dom::array listed;
  if (!list(listed, error))
    return false;
  for (const element item : listed)
    result.push_back({item, !item.is_null(), path + "[" + std::to_string(result.size()) + "]"});
  return true;
}

bool JsonPart::text(std::string_view &result, LoadError &error) const {
  if (is_present && value.get(result) == simdjson::SUCCESS)
    return true;
  error = malformed("a string");
  return false;
}

bool JsonPart::id(std::uint32_t &result, LoadError &error) const {
  std::uint64_t number = 0;
  if (!is_number() || value.get(number) != simdjson::SUCCESS || number >= ID_LIMIT) {
    error = malformed("a number from 0 to " + std::to_string(ID_LIMIT - 1));
    return false;
  }
  result = static_cast<std::uint32_t>(number);
  return true;
}

bool JsonPart::flag(bool &result, LoadError &error) const {
  if (is_present && value.get(result) == simdjson::SUCCESS)
    return true;
  error = malformed("true or false");
  return false;
}

bool JsonPart::flag_or_false(bool &result, LoadError &error) const {
  result = false;
  return !is_present || flag(result, error);
}

bool JsonPart::get(std::string_view name, JsonPart &result, LoadError &error) const {
  simdjson::dom::object members;
  if (!object(members, error))
    return false;
  element member;
  const bool is_member = members.at_key(name).get(member) == simdjson::SUCCESS;
  result = {member, is_member && !member.is_null(), path + (path.empty() ? "" : ".")};
  result.path += name;
  return true;
}

bool JsonPart::kind(std::string_view &result, LoadError &error) const {
  JsonPart type;
  return get("type", type, error) && type.text(result, error);
}

bool JsonPart::only(std::initializer_list<std::string_view> names, LoadError &error) const {
  simdjson::dom::object members;
  if (!object(members, error))
    return false;
  for (const auto &[name, member] : members)
    if (!member.is_null() && std::find(names.begin(), names.end(), name) == names.end()) {
      error =
          pretok::unsupported((path.empty() ? "the file" : path) + " has an unknown member " +
                              pretok::quote(name) + ", which may change the ids");
      return false;
    }
  return true;
}

bool JsonPart::parts(std::string_view name, std::vector<JsonPart> &result,
                     LoadError &error) const {
  std::vector<JsonPart> pending = {*this};
  std::size_t count = 0;
  while (!pending.empty()) {
    const JsonPart part = std::move(pending.back());
    pending.pop_back();
    std::string_view type;
    if (part.is_present && !part.kind(type, error))
      return false;
    if (!part.is_present || type != "Sequence") {
      result.push_back(part);
      ++count;
      continue;
    }
    JsonPart inner;
    simdjson::dom::array listed;
    std::vector<JsonPart> items;
    if (!part.only({"type", name}, error) || !part.get(name, inner, error) ||
        !inner.list(listed, error))
      return false;
    if (count + pending.size() + listed.size() > MAX_PARTS) {
      error = malformed("at most " + std::to_string(MAX_PARTS) + " parts");
      return false;
    }
    if (!inner.items(items, error))
      return false;
    pending.insert(pending.end(), items.rbegin(), items.rend());
  }
  return true;
}

bool has_duplicate_member(element value, std::size_t depth) {
  std::vector<std::string_view> names;
  object members;
  array items;
  if (value.get(members) == simdjson::SUCCESS) {
    for (const auto &[name, member] : members) {
      names.push_back(name);
      if (!(depth == 1 && name == "vocab") && has_duplicate_member(member, depth + 1))
        return true;
    }
    std::sort(names.begin(), names.end());
    return std::adjacent_find(names.begin(), names.end()) != names.end();
  }
  if (value.get(items) == simdjson::SUCCESS)
    for (const element item : items)
      if (has_duplicate_member(item, depth + 1))
        return true;
  return false;
}

} // namespace pretok
