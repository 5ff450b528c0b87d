// Pre-tokens: presets by name, those of users, and the spans of a text.
#include "capi/find_pre_tokenizer.hpp"
#include "capi/handles.hpp"
#include "capi/status.hpp"

#include "core/split/presets.hpp"
#include "core/split/program.hpp"
#include "core/unicode/unicode.hpp"

#include <memory>

namespace pretok {
namespace {

pretok_status unknown_preset(const char *name, pretok_error *error) {
  return fail(
      error, PRETOK_UNKNOWN_NAME,
      "no preset is named \"%.60s\"; pretok_preset_name() lists those that are built in", name);
}

pretok_status make_pre_tokenizer(std::string name, const std::uint32_t *words,
                                 std::size_t count, const char *unicode,
                                 std::optional<NamedPreTokenizer> &made, pretok_error *error) {
  std::vector<StageProgram> stages;
  if (const char *wrong = read_stages(words, count, stages))
    return fail(error, PRETOK_MALFORMED,
                "the program of the preset is damaged: %s; write it with `pretok program`",
                wrong);
  const UnicodeTable table = unicode_table(unicode);
  if (table.size == 0)
    return fail(error, PRETOK_UNKNOWN_NAME,
                "there is no table of Unicode \"%.20s\"; expected a version such as \"16.0\"",
                unicode);
  made.emplace(NamedPreTokenizer{std::move(name), PreTokenizer(stages, table)});
  return PRETOK_OK;
}

} // namespace

pretok_status find_pre_tokenizer(const char *name, const char *unicode,
                                 std::optional<NamedPreTokenizer> &made, pretok_error *error) {
  const Preset *preset = find_preset(name);
  if (preset == nullptr)
    return unknown_preset(name, error);
  return make_pre_tokenizer(preset->name, preset->words, preset->word_count,
                            unicode != nullptr ? unicode : preset->unicode, made, error);
}

pretok_status read_pre_tokenizer(const std::uint32_t *words, std::size_t count,
                                 const char *unicode, std::optional<NamedPreTokenizer> &made,
                                 pretok_error *error) {
  return make_pre_tokenizer("", words, count, unicode, made, error);
}

} // namespace pretok

using namespace pretok;

uint32_t pretok_abi_version(void) noexcept { return PRETOK_ABI_VERSION; }

const char *pretok_version(void) noexcept { return PRETOK_VERSION; }

size_t pretok_preset_count(void) noexcept { return preset_count(); }

const char *pretok_preset_name(size_t index) noexcept {
  return index < preset_count() ? preset_at(index).name : nullptr;
}

pretok_status pretok_pre_tokenizer_named(const char *name, const char *unicode,
                                         pretok_pre_tokenizer **made,
                                         pretok_error *error) noexcept {
  if (const pretok_status status = check(error, {{name, "name"}, {made, "made"}}))
    return status;
  return guarded(error, [&] {
    std::optional<NamedPreTokenizer> found;
    const pretok_status status = find_pre_tokenizer(name, unicode, found, error);
    if (status == PRETOK_OK)
      *made = new pretok_pre_tokenizer{std::move(*found)};
    return status;
  });
}

pretok_status pretok_pre_tokenizer_from_program(const uint32_t *words, size_t count,
                                                const char *unicode,
                                                pretok_pre_tokenizer **made,
                                                pretok_error *error) noexcept {
  if (const pretok_status status =
          check(error, {{words, "words"}, {unicode, "unicode"}, {made, "made"}}))
    return status;
  return guarded(error, [&] {
    std::optional<NamedPreTokenizer> found;
    const pretok_status status = read_pre_tokenizer(words, count, unicode, found, error);
    if (status == PRETOK_OK)
      *made = new pretok_pre_tokenizer{std::move(*found)};
    return status;
  });
}

void pretok_pre_tokenizer_free(pretok_pre_tokenizer *freed) noexcept { delete freed; }

pretok_status pretok_spans(const pretok_pre_tokenizer *pre_tokenizer, const char *text,
                           size_t size, pretok_span *spans, size_t capacity, size_t *count,
                           pretok_error *error) noexcept {
  if (const pretok_status status = check(
          error,
          {{pre_tokenizer, "the pre-tokenizer"}, {text, "text", size != 0}, {count, "count"}}))
    return status;
  return guarded(error, [&] {
    const PreTokenizer &split_by = pre_tokenizer->named.pre_tokenizer;
    const Utf8 source(reinterpret_cast<const std::uint8_t *>(text), size, split_by.classes());
    if (spans == nullptr) {
      *count = pretok::count(split_by, source);
      return PRETOK_OK;
    }
    // Each pre-token has a byte, so that most callers' room is enough, and none is written to
    // where it is not.
    if (capacity < size) {
      const std::size_t needed = pretok::count(split_by, source);
      if (const pretok_status status = room_for(needed, spans, capacity, count, error))
        return status;
    }
    pretok_span *to = spans;
    split_by.spans(source, kernels(),
                   [&to](std::size_t start, std::size_t end, int) { *to++ = {start, end}; });
    *count = static_cast<std::size_t>(to - spans);
    return PRETOK_OK;
  });
}
