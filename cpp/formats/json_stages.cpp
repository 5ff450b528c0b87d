#include "formats/json_readers.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pretok {
namespace {

struct KnownStage {
  std::string_view key;
  std::string_view words; // of the stage (program.hpp), as LEB128 numbers
};

#include "formats/generated/json_stages.inc"

template <std::size_t SIZE>
bool find_in(const KnownStage (&known)[SIZE], std::string_view key, SplitSpec &split) {
  for (const KnownStage &stage : known) {
    if (stage.key != key)
      continue;
    std::vector<std::uint32_t> words;
    std::uint32_t word = 0;
    unsigned shift = 0;
    for (const char each : stage.words) {
      const auto byte = static_cast<std::uint8_t>(each);
      word |= std::uint32_t{byte & 0x7FU} << shift;
      shift += 7;
      if (byte >= 0x80)
        continue;
      words.push_back(std::exchange(word, 0));
      shift = 0;
    }
    std::vector<StageProgram> stages;
    if (!read_stages(words, stages).empty())
      return false;
    split.table = unicode_table(json_unicode());
    split.stages.push_back(std::move(stages.front()));
    return split.table.size != 0;
  }
  return false;
}

} // namespace

bool find_json_stage(std::string_view part, SplitSpec &split) {
  return find_in(JSON_STAGES, part, split);
}

bool find_json_regex(std::string_view pattern, SplitSpec &split) {
  return find_in(JSON_REGEXES, pattern, split);
}

std::string_view json_unicode() { return JSON_UNICODE; }

} // namespace pretok
