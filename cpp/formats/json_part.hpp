// A value of a JSON file with its path, for error messages. bpe/formats/json_value.py does the
// same in Python.
#pragma once

#include "formats/load_error.hpp"

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

// A null value counts as absent. A function that fails sets `error` and returns false.
struct JsonPart {
  simdjson::dom::element value;
  bool is_present = false;
  std::string path;

  bool is(simdjson::dom::element_type type) const { return is_present && value.type() == type; }
  bool is_number() const {
    return is(simdjson::dom::element_type::INT64) || is(simdjson::dom::element_type::UINT64);
  }

  // Returns "PATH is VALUE", for error messages.
  std::string description() const;
  LoadError malformed(const std::string &expected) const;
  LoadError unsupported(const std::string &advice) const;

  // Get the value as an object, list, text, id or flag. Fail if the value has a different type.
  bool object(simdjson::dom::object &result, LoadError &error) const;
  bool list(simdjson::dom::array &result, LoadError &error) const;
  bool items(std::vector<JsonPart> &result, LoadError &error) const;
  bool text(std::string_view &result, LoadError &error) const;
  bool id(std::uint32_t &result, LoadError &error) const;
  bool flag(bool &result, LoadError &error) const;
  // Like `flag`, but an absent value counts as false.
  bool flag_or_false(bool &result, LoadError &error) const;

  // Gets a member of an object.
  bool get(std::string_view name, JsonPart &result, LoadError &error) const;
  // Gets the text of the member "type".
  bool kind(std::string_view &result, LoadError &error) const;
  // Fails if the object has a member other than `names` that is not null.
  bool only(std::initializer_list<std::string_view> names, LoadError &error) const;
  // Gets the parts that the member `name` of a Sequence lists. Flattens nested Sequences. A
  // value of any other type is its own single part.
  bool parts(std::string_view name, std::vector<JsonPart> &result, LoadError &error) const;
};

// Returns whether an object other than model.vocab has a duplicate member. `depth` is the depth
// of `value`, 0 for the whole file. simdjson limits the recursion.
bool has_duplicate_member(simdjson::dom::element value, std::size_t depth = 0);

} // namespace pretok
