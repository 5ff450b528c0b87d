#include "formats/pretok_file_reader.hpp"

#include <cstring>
#include <string_view>

namespace pretok {
namespace {

// The maximum number of scores, which a file of a few bytes could otherwise announce.
constexpr std::uint32_t MAX_SCORES = 1 << 22;

// Reads the length of a run. `size` is the number of items before it.
bool read_run(PretokFileReader &reader, std::size_t size, std::uint32_t limit,
              std::uint32_t &length) {
  return reader.number(length) && ((length != 0 && length <= limit - size) ||
                                   reader.fail("has a wrong run of types or scores"));
}

bool read_types(PretokFileReader &reader, std::vector<std::uint8_t> &types) {
  std::uint32_t runs = 0;
  if (!reader.count(2, runs))
    return false;
  for (std::uint32_t i = 0; i < runs; ++i) {
    std::uint32_t length = 0;
    std::uint32_t type = 0;
    if (!read_run(reader, types.size(), ID_LIMIT, length) || !reader.number(type))
      return false;
    if (type > static_cast<std::uint32_t>(TokenType::BYTE) ||
        (!types.empty() && types.back() == type))
      return reader.fail("has a wrong run of types or scores");
    types.insert(types.end(), length, static_cast<std::uint8_t>(type));
  }
  return true;
}

// Each score of a run is one less than the score before.
bool read_scores(PretokFileReader &reader, std::vector<float> &scores) {
  std::uint32_t runs = 0;
  if (!reader.count(5, runs))
    return false;
  float next = 0;
  for (std::uint32_t i = 0; i < runs; ++i) {
    std::uint32_t length = 0;
    if (!read_run(reader, scores.size(), MAX_SCORES, length))
      return false;
    if (reader.left() < sizeof(float))
      return reader.fail("ends too early");
    const std::uint32_t bits = little_endian(reader.here(), sizeof(float));
    float first = 0;
    std::memcpy(&first, &bits, sizeof first);
    reader.skip(sizeof first);
    if (!scores.empty() && std::memcmp(&first, &next, sizeof first) == 0)
      return reader.fail("has a wrong run of types or scores");
    for (std::uint32_t at = 0; at < length; ++at)
      scores.push_back(first - static_cast<float>(at));
    next = first - static_cast<float>(length);
  }
  return true;
}

bool read_ends(PretokFileReader &reader, std::vector<std::uint32_t> &ends) {
  std::uint32_t count = 0;
  if (!reader.count(1, count))
    return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t id = 0;
    if (!reader.id(id))
      return false;
    if (!ends.empty() && id <= ends.back())
      return reader.fail("has ids that do not ascend");
    ends.push_back(id);
  }
  return true;
}

} // namespace

bool read_facts_section(PretokFileReader &reader, TokenFacts &facts) {
  bool is_empty = true;
  for (std::uint32_t &id : facts.roles.ids) {
    std::uint32_t number = 0;
    if (!reader.number(number))
      return false;
    if (number > ID_LIMIT)
      return reader.fail("has a role with an id that is too large");
    id = number == 0 ? NO_ID : number - 1;
    is_empty = is_empty && number == 0;
  }
  std::string_view chat_template;
  if (!read_ends(reader, facts.ends) || !reader.text(chat_template) ||
      !read_types(reader, facts.types) || !read_scores(reader, facts.scores))
    return false;
  facts.chat_template = chat_template;
  return !(is_empty && facts.ends.empty() && chat_template.empty() && facts.types.empty() &&
           facts.scores.empty()) ||
         reader.fail("has an empty section of facts");
}

} // namespace pretok
