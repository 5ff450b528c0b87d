// A part of a JSON file that knows where it is, so that faults can say so.
// bpe/formats/json_value.py is the twin.
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

// One that is null is as if it were not there. What reads one returns false after it has put
// into `error` what is wrong.
struct JsonPart {
  simdjson::dom::element value;
  bool is_present = false;
  std::string path;

  bool is(simdjson::dom::element_type type) const { return is_present && value.type() == type; }
  bool is_number() const {
    return is(simdjson::dom::element_type::INT64) || is(simdjson::dom::element_type::UINT64);
  }

  // What it is, for faults.
  std::string description() const;
  LoadError malformed(const std::string &expected) const;
  LoadError unsupported(const std::string &advice) const;

  bool object(simdjson::dom::object &found, LoadError &error) const;
  bool list(simdjson::dom::array &found, LoadError &error) const;
  bool items(std::vector<JsonPart> &found, LoadError &error) const;
  bool text(std::string_view &found, LoadError &error) const;
  bool id(std::uint32_t &found, LoadError &error) const;
  bool flag(bool &found, LoadError &error) const;
  // The same where nothing means false.
  bool flag_or_false(bool &found, LoadError &error) const;

  // A member of an object.
  bool get(std::string_view name, JsonPart &found, LoadError &error) const;
  // The text of the member "type".
  bool kind(std::string_view &found, LoadError &error) const;
  // A error if an object has a member besides `names` that is not null.
  bool only(std::initializer_list<std::string_view> names, LoadError &error) const;
  // The parts of a Sequence, which has them under `name`, nested as they may be; what is of
  // another kind is its own only part.
  bool parts(std::string_view name, std::vector<JsonPart> &found, LoadError &error) const;
};

// Whether an object in a file has a member twice, but for model.vocab. `depth` is that of
// `value`, 0 for the whole file; as deep as simdjson reads it calls itself.
bool has_members_twice(simdjson::dom::element value, std::size_t depth = 0);

} // namespace pretok
