#include "formats/find_split.hpp"

#include "core/split/presets.hpp"
#include "core/split/program.hpp"

#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
#include <map>
#endif
#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

LoadError make_split(std::string name, const std::uint32_t *words, std::size_t count,
                     const char *unicode, std::optional<NamedPreTokenizer> &result) {
  std::vector<StageProgram> stages;
  const std::string problem = read_stages(words, count, stages);
  if (!problem.empty())
    return malformed("the program of the preset is damaged: ", problem,
                     "; write the program again with `pretok program`");
  const UnicodeTable table = unicode_table(unicode);
  if (table.size == 0)
    return load_error(LoadError::UNKNOWN_NAME,
                      {"unknown Unicode version \"", std::string_view(unicode).substr(0, 20),
                       "\"; expected a version such as \"16.0\""});
  result.emplace(NamedPreTokenizer{std::move(name), PreTokenizer(stages, table), table});
  return {};
}

} // namespace

LoadError find_preset_split(const char *name, const char *unicode,
                            std::optional<NamedPreTokenizer> &result) {
  const Preset *preset = find_preset(name);
  if (preset == nullptr)
    return load_error(LoadError::UNKNOWN_NAME,
                      {"no preset is named \"", std::string_view(name).substr(0, 60),
                       "\"; pretok_preset_name() lists the built-in presets"});
  if (unicode == nullptr)
    unicode = preset->unicode;
#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  // Fuzz targets make a tokenizer for each input.
  static std::map<std::pair<std::string, std::string>, NamedPreTokenizer> made;
  const auto known = made.find({preset->name, unicode});
  if (known != made.end()) {
    result = known->second;
    return {};
  }
#endif
  const std::vector<std::uint32_t> words = preset->words();
  LoadError error = make_split(preset->name, words.data(), words.size(), unicode, result);
#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  if (!error)
    made.emplace(std::make_pair(preset->name, unicode), *result);
#endif
  return error;
}

LoadError read_split(const std::uint32_t *words, std::size_t count, const char *unicode,
                     std::optional<NamedPreTokenizer> &result) {
  return make_split("", words, count, unicode, result);
}

} // namespace pretok
