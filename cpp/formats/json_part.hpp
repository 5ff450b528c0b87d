// A part of a JSON file that knows where it is, so that faults can say so.
// bpe/formats/json_value.py is the twin.
#pragma once

#include "formats/faults.hpp"

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

// One that is null is as if it were not there. What reads one returns false after it has put
// into `fault` what is wrong.
struct JsonPart {
  simdjson::dom::element value;
  bool is_there = false;
  std::string path;

  bool is(simdjson::dom::element_type type) const { return is_there && value.type() == type; }
  bool is_number() const {
    return is(simdjson::dom::element_type::INT64) || is(simdjson::dom::element_type::UINT64);
  }

  // What it is, for faults.
  std::string shown() const;
  Fault malformed(const std::string &expected) const;
  Fault unsupported(const std::string &advice) const;

  bool object(simdjson::dom::object &found, Fault &fault) const;
  bool list(simdjson::dom::array &found, Fault &fault) const;
  bool items(std::vector<JsonPart> &found, Fault &fault) const;
  bool text(std::string_view &found, Fault &fault) const;
  bool id(std::uint32_t &found, Fault &fault) const;
  bool flag(bool &found, Fault &fault) const;
  // The same where nothing means false.
  bool flag_or_false(bool &found, Fault &fault) const;

  // A member of an object.
  bool get(std::string_view name, JsonPart &found, Fault &fault) const;
  // The text of the member "type".
  bool kind(std::string_view &found, Fault &fault) const;
  // A fault if an object has a member besides `names` that is not null.
  bool only(std::initializer_list<std::string_view> names, Fault &fault) const;
  // The parts of a Sequence, which has them under `name`, nested as they may be; what is of
  // another kind is its own only part.
  bool parts(std::string_view name, std::vector<JsonPart> &found, Fault &fault) const;
};

// Whether an object in a file has a member twice, but for model.vocab. `depth` is that of
// `value`, 0 for the whole file; as deep as simdjson reads it calls itself.
bool has_members_twice(simdjson::dom::element value, std::size_t depth = 0);

} // namespace pretok
