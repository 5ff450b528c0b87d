#include "formats/pretok_file_steps.hpp"

#include "core/decode/decoder_growth.hpp"
#include "core/normalize/growth.hpp"
#include "core/split/presets.hpp"
#include "formats/character_spec.hpp"
#include "formats/load_error.hpp"
#include "formats/piece_file.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pretok {
namespace {

// The limits of bpe/formats/normalizer_json.py and decoder_json.py, in characters.
constexpr std::size_t MAX_STEP_TEXT = 256;
constexpr std::uint32_t MAX_STRIP_COUNT = 256;
// The maximum number of normalizers, and of decoders; MAX_STEPS of bpe/formats/pretok_steps.py.
constexpr std::uint32_t MAX_STEPS = 256;

constexpr std::uint32_t ALL_OF_STRIP = 3;
constexpr std::uint32_t ALL_OF_BERT = 31;

class StepReader {
public:
  explicit StepReader(PretokFileReader &reader) : reader_(reader) {}

  bool read(TokenizerSpec &spec) {
    std::uint32_t count = 0;
    if (!number(MAX_STEPS, count))
      return false;
    for (std::uint32_t i = 0; i < count; ++i)
      if (!read_step(spec.steps.emplace_back()))
        return false;
    const std::string problem = problem_of_growth(spec.steps);
    if (!problem.empty()) {
      reader_.error() = unsupported("the file has normalizers that " + problem);
      return false;
    }
    return read_metaspace(spec.metaspace) && read_decoder(spec.decoder);
  }

private:
  bool fail_unknown() { return reader_.fail("has an unknown normalizer or decoder"); }

  bool number(std::uint32_t limit, std::uint32_t &result) {
    return reader_.number(result) && (result <= limit || fail_unknown());
  }

  // Reads a text of at most MAX_STEP_TEXT characters.
  bool text(bool may_be_empty, std::string &result) {
    std::string_view view;
    if (!reader_.text(view))
      return false;
    result = view;
    return (count_characters(view) <= MAX_STEP_TEXT && (may_be_empty || !view.empty())) ||
           reader_.fail("has a text of a normalizer or decoder that is empty or too long");
  }

  bool read_step(NormalizerStep &step) {
    using Type = NormalizerStep::Kind;
    std::uint32_t kind = 0;
    if (!number(static_cast<std::uint32_t>(Type::COUNT) - 1, kind))
      return false;
    step.kind = static_cast<Type>(kind);
    switch (step.kind) {
    case Type::STRIP:
      return number(ALL_OF_STRIP, step.options);
    case Type::BERT:
      return number(ALL_OF_BERT, step.options) &&
             ((step.options & NormalizerStep::ACCENTS) == 0 ||
              (step.options & NormalizerStep::ACCENTS_AS_LOWER) == 0 || fail_unknown());
    case Type::PREPEND:
      return text(true, step.replacement.content);
    case Type::REPLACE:
    case Type::REPLACE_REGEX:
      return read_replacement(step.kind == Type::REPLACE_REGEX, step.replacement);
    case Type::PRECOMPILED: {
      std::uint32_t size = 0;
      if (!reader_.count(1, size))
        return false;
      step.charsmap.assign(reader_.here(), reader_.here() + size);
      const std::string problem =
          size == 0 ? "is truncated"
                    : problem_of_charsmap(step.charsmap, &step.charsmap_growth);
      return reader_.skip(size) &&
             (problem.empty() || reader_.fail("has a charsmap that " + problem));
    }
    default:
      return true;
    }
  }

  bool read_replacement(bool is_regex, Replacement &replacement) {
    return text(false, replacement.pattern) && text(true, replacement.content) &&
           (!is_regex || (read_program(replacement.regex.emplace()) &&
                          (replacement.regex->stages.size() == 1 ||
                           reader_.fail("has a regex of several stages"))));
  }

  // Reads a Unicode version and the words of a program.
  bool read_program(SplitSpec &split) {
    std::uint32_t count = 0;
    if (!read_table(split.table) || !reader_.count(1, count))
      return false;
    std::vector<std::uint32_t> words(count);
    for (std::uint32_t &word : words)
      if (!reader_.number(word))
        return false;
    return read_words(words, split);
  }

  bool read_table(UnicodeTable &table) {
    std::string_view unicode;
    if (!reader_.text(unicode))
      return false;
    table = unicode_table(unicode);
    if (table.size != 0)
      return true;
    reader_.error() = unsupported("the file uses Unicode " + quote(unicode) +
                                  ", which this version of pretok does not have; save the "
                                  "tokenizer again with a Unicode version that it has");
    return false;
  }

  bool read_words(const std::vector<std::uint32_t> &words, SplitSpec &split) {
    const std::string error = read_stages(words, split.stages);
    return error.empty() || reader_.fail("has a wrong program: " + error);
  }

  // Reads a preset in the form of the section `preset`.
  bool read_preset(bool is_own, SplitSpec &split) {
    std::string_view name;
    if (!reader_.text(name))
      return false;
    if (is_own) {
      std::string_view description; // only Python shows it
      return read_program(split) && reader_.text(description);
    }
    const Preset *preset = find_preset(name);
    if (preset == nullptr || name != preset->name) {
      reader_.error() = unsupported("the file uses preset " + quote(name) +
                                    ", which this version of pretok does not have");
      return false;
    }
    return read_table(split.table) && read_words(preset->words(), split);
  }

  bool read_metaspace(std::optional<MetaspaceSpec> &metaspace) {
    std::uint32_t scheme = 0;
    std::uint32_t before = 0;
    if (!number(3, scheme))
      return false;
    if (scheme == 0)
      return true;
    MetaspaceSpec &spec = metaspace.emplace();
    spec.prepend = static_cast<MetaspaceSpec::Prepend>(scheme - 1);
    return read_character(spec.replacement) && number(2, before) &&
           (before == 0 || read_preset(before == 2, spec.before.emplace()));
  }

  bool read_character(std::string &result) {
    return text(false, result) && (count_characters(result) == 1 || fail_unknown());
  }

  bool read_decoder(std::optional<std::vector<DecoderStep>> &decoder) {
    std::uint32_t count = 0;
    if (!number(MAX_STEPS + 1, count))
      return false;
    if (count == 0)
      return true;
    decoder.emplace();
    for (std::uint32_t i = 1; i < count; ++i)
      if (!read_decoder_step(decoder->emplace_back()))
        return false;
    const std::string problem = problem_of_growth(*decoder);
    if (!problem.empty())
      reader_.error() = unsupported("the file has decoders that " + problem);
    return problem.empty();
  }

  bool read_decoder_step(DecoderStep &step) {
    using Type = DecoderStep::Kind;
    std::uint32_t kind = 0;
    std::uint32_t option = 0;
    if (!number(static_cast<std::uint32_t>(Type::COUNT) - 1, kind))
      return false;
    step.kind = static_cast<Type>(kind);
    bool is_read = true;
    switch (step.kind) {
    case Type::STRIP:
      return read_character(step.text) && number(MAX_STRIP_COUNT, step.start) &&
             number(MAX_STRIP_COUNT, step.stop);
    case Type::REPLACE:
    case Type::REPLACE_REGEX:
      return read_replacement(step.kind == Type::REPLACE_REGEX, step.replacement);
    case Type::METASPACE: // the option is the scheme
      is_read = read_character(step.text) && number(2, option);
      step.removes_first = option != static_cast<std::uint32_t>(MetaspaceSpec::Prepend::NEVER);
      return is_read;
    case Type::BPE:
      return text(false, step.text);
    case Type::WORD_PIECE:
      is_read = text(true, step.text) && number(1, option);
      break;
    case Type::CTC:
      is_read = text(true, step.text) && text(true, step.delimiter) && number(1, option);
      break;
    default:
      break;
    }
    step.cleanup = option != 0;
    return is_read;
  }

  PretokFileReader &reader_;
};

} // namespace

bool read_steps_section(PretokFileReader &reader, TokenizerSpec &spec) {
  return StepReader(reader).read(spec);
}

} // namespace pretok
