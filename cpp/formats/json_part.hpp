// A value of a JSON file, and its path for error messages. bpe/formats/json_value.py does the
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

// A value of the file, or the place of a value that is missing. A function that fails sets
// `error` and returns false.
struct JsonPart {
  simdjson::dom::element value;
  bool is_present = false; // false if there is no value, or if it is null
  std::string path;        // such as "model.merges[2]"; "" for the whole file

  bool is(simdjson::dom::element_type type) const { return is_present && value.type() == type; }
  bool is_number() const {
    return is(simdjson::dom::element_type::INT64) || is(simdjson::dom::element_type::UINT64);
  }

  // Returns "PATH is VALUE", for error messages.
  std::string description() const;
  // Return an error that begins with description().
  LoadError malformed(const std::string &expected) const;
  LoadError unsupported(const std::string &advice) const;

  // Get the value as an object, list, text, id or flag. Fail if the value is absent or has a
  // different type. `items` appends the elements of a list, with their paths.
  bool object(simdjson::dom::object &result, LoadError &error) const;
  bool list(simdjson::dom::array &result, LoadError &error) const;
  bool items(std::vector<JsonPart> &result, LoadError &error) const;
  bool text(std::string_view &result, LoadError &error) const;
  bool id(std::uint32_t &result, LoadError &error) const;
  bool flag(bool &result, LoadError &error) const;
  // Like `flag`, but an absent value counts as false.
  bool flag_or_false(bool &result, LoadError &error) const;

  // Gets a member of an object. If the object lacks the member, result.is_present is false.
  // Fails if this value is not an object.
  bool get(std::string_view name, JsonPart &result, LoadError &error) const;
  // Gets the text of the member "type".
  bool kind(std::string_view &result, LoadError &error) const;
  // Fails if the object has a member that is not null and whose name is not in `names`.
  bool only(std::initializer_list<std::string_view> names, LoadError &error) const;
  // Appends the parts of a pre_tokenizer, normalizer or post_processor to `result`. If its
  // "type" is "Sequence", the parts are the elements of the list in the member `name`. An
  // element that is a Sequence itself is replaced by its parts. Otherwise this value is the
  // only part.
  bool parts(std::string_view name, std::vector<JsonPart> &result, LoadError &error) const;
};

// Returns whether any object in `value` has two members with the same name. Does not look into
// model.vocab. `depth` is the number of lists and objects around `value`; it tells model.vocab
// from other members of this name. The recursion cannot overflow the stack, because simdjson
// limits the depth of a file.
bool has_duplicate_member(simdjson::dom::element value, std::size_t depth = 0);

} // namespace pretok
