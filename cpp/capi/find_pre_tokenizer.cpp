#include "capi/find_pre_tokenizer.hpp"

#include "capi/status.hpp"
#include "core/split/presets.hpp"
#include "core/split/program.hpp"
#include "core/unicode/unicode.hpp"

#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

pretok_status unknown_preset(const char *name, pretok_error *error) {
  return fail(error, PRETOK_UNKNOWN_NAME,
              "no preset is named \"%.60s\"; pretok_preset_name() lists the built-in presets",
              name);
}

pretok_status make_pre_tokenizer(std::string name, const std::uint32_t *words,
                                 std::size_t count, const char *unicode,
                                 std::optional<NamedPreTokenizer> &result,
                                 pretok_error *error) {
  std::vector<StageProgram> stages;
  const std::string stage_error = read_stages(words, count, stages);
  if (!stage_error.empty())
    return fail(error, PRETOK_MALFORMED,
                "the program of the preset is damaged: %s; write the program again with "
                "`pretok program`",
                stage_error.c_str());
  const UnicodeTable table = unicode_table(unicode);
  if (table.size == 0)
    return fail(error, PRETOK_UNKNOWN_NAME,
                "unknown Unicode version \"%.20s\"; expected a version such as \"16.0\"",
                unicode);
  result.emplace(NamedPreTokenizer{std::move(name), PreTokenizer(stages, table), table});
  return PRETOK_OK;
}

} // namespace

pretok_status find_pre_tokenizer(const char *name, const char *unicode,
                                 std::optional<NamedPreTokenizer> &result,
                                 pretok_error *error) {
  const Preset *preset = find_preset(name);
  if (preset == nullptr)
    return unknown_preset(name, error);
  const std::vector<std::uint32_t> words = preset->words();
  return make_pre_tokenizer(preset->name, words.data(), words.size(),
                            unicode != nullptr ? unicode : preset->unicode, result, error);
}

pretok_status read_pre_tokenizer(const std::uint32_t *words, std::size_t count,
                                 const char *unicode, std::optional<NamedPreTokenizer> &result,
                                 pretok_error *error) {
  return make_pre_tokenizer("", words, count, unicode, result, error);
}

} // namespace pretok
