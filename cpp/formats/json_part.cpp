#include "formats/json_part.hpp"

#include "core/base/ids.hpp"
#include "formats/piece_file.hpp"

#include <algorithm>
#include <charconv>

namespace pretok {
namespace {

// The maximum number of parts of a pre_tokenizer, normalizer or post_processor. Each Sequence
// in it counts as a part too.
constexpr std::size_t MAX_PARTS = 256;

// The members of a ByteLevel. Files of Cohere repeat them in their TemplateProcessing.
constexpr std::string_view BYTE_LEVEL[] = {"trim_offsets", "add_prefix_space", "use_regex"};

// Appends the name of a member to the path of its object. Quotes a long name.
void append_name(std::string_view name, std::string &path) {
  constexpr std::size_t MAX_NAME = 80;
  if (!path.empty())
    path += '.';
  path += name.size() <= MAX_NAME ? std::string(name) : quote(name);
}

// Returns the path of the value at `place`.
std::string path_of(const JsonDocument &document, std::size_t place) {
  std::string path;
  std::size_t at = 0;
  while (at != place) {
    const bool is_object = document[at].kind == JsonKind::OBJECT;
    std::size_t index = 0;
    std::size_t name = ++at;
    at += is_object ? 1 : 0;
    for (; document.after(at) <= place; ++index) {
      name = document.after(at);
      at = name + (is_object ? 1 : 0);
    }
    if (is_object)
      append_name(document[name].text(), path);
    else
      path += '[' + std::to_string(index) + ']';
  }
  return path;
}

} // namespace

bool JsonPart::is_present() const {
  return place_ != MISSING && value().kind != JsonKind::NULL_WORD;
}

bool JsonPart::is_whole_number() const {
  return is(JsonKind::NUMBER) && value().text().find_first_of(".eE") == std::string_view::npos;
}

std::string JsonPart::path() const {
  std::string path = path_of(file_->document, place_ == MISSING ? parent_ : place_);
  if (place_ == MISSING)
    append_name(name_, path);
  return path;
}

std::string_view JsonPart::json() const {
  return is(JsonKind::OBJECT) || is(JsonKind::LIST) ? file_->document.json(place_) : "";
}

JsonPart JsonPart::operator[](std::string_view name) const {
  for (const JsonPart member : members())
    if (member.name_ == name)
      return member;
  return {file_, MISSING, place_, name};
}

JsonPart::Children JsonPart::items() const { return children(JsonKind::LIST, "a list"); }

JsonPart::Children JsonPart::members() const { return children(JsonKind::OBJECT, "an object"); }

JsonPart::Children JsonPart::children(JsonKind kind, const char *expected) const {
  if (is(kind))
    return {file_, place_, place_ + 1, file_->document.after(place_), kind == JsonKind::OBJECT};
  fail_malformed(expected);
  return {file_, place_, 0, 0, false};
}

std::size_t JsonPart::Children::size() const {
  std::size_t count = 0;
  for (Iterator each = begin(); each != end(); ++each)
    ++count;
  return count;
}

std::vector<JsonPart> JsonPart::Children::listed() const {
  std::vector<JsonPart> result;
  for (const JsonPart part : *this)
    result.push_back(part);
  return result;
}

std::string_view JsonPart::text() const {
  if (is(JsonKind::STRING))
    return value().text();
  fail_malformed("a string");
  return "";
}

bool JsonPart::flag() const {
  if (!is_flag())
    fail_malformed("true or false");
  return is(JsonKind::TRUE_WORD);
}

bool JsonPart::get_id(std::uint32_t &id) const {
  if (!is(JsonKind::NUMBER))
    return false;
  const std::string_view digits = value().text();
  const char *const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, id);
  return error == std::errc() && stop == end && id < ID_LIMIT;
}

std::uint32_t JsonPart::number(std::uint32_t max) const {
  std::uint32_t number = 0;
  if (get_id(number) && number <= max)
    return number;
  fail_malformed("a number from 0 to " + std::to_string(max));
  return 0;
}

double JsonPart::fraction() const {
  const std::string_view text = is(JsonKind::NUMBER) ? value().text() : "-1";
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  constexpr std::size_t MAX_DIGITS = 15; // the quotient of such integers is rounded correctly
  if (text.find_first_of("eE") != std::string_view::npos ||
      text.size() - point > MAX_DIGITS + 1) {
    fail_unsupported("write it with at most 15 digits, and without an exponent");
    return 0;
  }
  std::uint64_t digits = 0;
  double divisor = 1;
  for (std::size_t at = point + 1; at < text.size(); ++at) {
    digits = digits * 10 + static_cast<std::uint64_t>(text[at] - '0');
    divisor *= 10;
  }
  if (whole != "0" && (digits != 0 || (whole != "1" && whole != "-0")))
    fail_malformed("null or a number from 0 to 1");
  return whole == "1" ? 1 : static_cast<double>(digits) / divisor;
}

std::uint32_t JsonPart::id() const { return number(ID_LIMIT - 1); }

std::string_view JsonPart::text_or(std::string_view absent) const {
  return is_present() ? text() : absent;
}

bool JsonPart::flag_or(bool absent) const { return is_present() ? flag() : absent; }

std::string JsonPart::short_text(bool may_be_empty) const {
  const std::string_view result = text();
  if (is_fine() &&
      (count_characters(result) > MAX_SHORT_TEXT || (result.empty() && !may_be_empty)))
    fail_malformed("a text of 1 to " + std::to_string(MAX_SHORT_TEXT) + " characters");
  return std::string(result);
}

void JsonPart::only(const std::vector<std::string_view> &names) const {
  const auto has = [](const auto &all, std::string_view name) {
    return std::find(std::begin(all), std::end(all), name) != std::end(all);
  };
  const bool has_type = has(names, "type");
  for (const JsonPart member : members())
    if (member.is_present() && !has(names, member.name_) &&
        !(has_type && has(BYTE_LEVEL, member.name_)))
      return fail(unsupported((place_ == 0 ? "the file" : path()), " has an unknown member ",
                              quote(member.name_), ", which may change the ids"));
}

std::vector<JsonPart> JsonPart::parts(std::string_view name) const {
  std::vector<JsonPart> result;
  std::vector<JsonPart> pending = {*this};
  while (!pending.empty() && is_fine()) {
    const JsonPart part = pending.back();
    pending.pop_back();
    if (!part.is_present() || part.kind() != "Sequence") {
      result.push_back(part);
      continue;
    }
    part.only({"type", name});
    const Children inner = part[name].items();
    if (result.size() + pending.size() + inner.size() > MAX_PARTS) {
      fail_malformed("at most " + std::to_string(MAX_PARTS) + " parts");
      break;
    }
    const std::vector<JsonPart> items = inner.listed();
    pending.insert(pending.end(), items.rbegin(), items.rend());
  }
  if (!is_fine())
    result.clear();
  return result;
}

std::string JsonPart::description() const {
  const std::string shown = place_ == 0 ? "the file is " : path() + " is ";
  if (place_ == MISSING)
    return shown + "missing or null";
  switch (value().kind) {
  case JsonKind::OBJECT:
    return shown + "an object";
  case JsonKind::LIST:
    return shown + "a list";
  case JsonKind::NULL_WORD:
    return shown + "missing or null";
  case JsonKind::STRING:
    return shown + quote(value().text());
  default:
    return shown + std::string(value().text().substr(0, 40));
  }
}

void JsonPart::fail_malformed(const std::string &expected) const {
  if (is_fine())
    fail(malformed(description(), "; expected ", expected));
}

void JsonPart::fail_unsupported(const std::string &advice) const {
  if (is_fine())
    fail(unsupported(description(), ", which is not supported: ", advice));
}

void JsonPart::fail(LoadError error) const {
  if (is_fine())
    file_->error = std::move(error);
}

} // namespace pretok
