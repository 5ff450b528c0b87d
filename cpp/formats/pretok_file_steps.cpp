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

class StepReader {
public:
  explicit StepReader(PretokFileReader &reader) : reader_(reader) {}

  bool read(TokenizerSpec &spec) {
    std::uint32_t count = 0;
    if (!number(MAX_STEPS, count))
      return false;
    for (std::uint32_t i = 0; i < count; ++i)
      if (!read_step(spec.steps.emplace_back(), spec.sentencepiece))
        return false;
    const std::string problem = problem_of_growth(spec.steps);
    if (!problem.empty()) {
      reader_.error() = unsupported("the file has normalizers that ", problem);
      return false;
    }
    if (!read_metaspace(spec.metaspace) || !read_decoder(spec))
      return false;
    if (spec.sentencepiece) {
      if (count != 1 || spec.metaspace)
        return fail_unknown();
      spec.steps.clear();
    }
    return true;
  }

private:
  bool fail_unknown() { return reader_.fail("has an unknown normalizer or decoder"); }

  bool number(std::uint32_t limit, std::uint32_t &result) {
    return reader_.number(result) && (result <= limit || fail_unknown());
  }

  bool flag(bool &result) {
    std::uint32_t read = 0;
    if (!number(1, read))
      return false;
    result = read != 0;
    return true;
  }

  // Sets the bit `bit` of `options` if the next flag is true.
  bool option(std::uint32_t bit, std::uint32_t &options) {
    bool is_set = false;
    if (!flag(is_set))
      return false;
    options |= is_set ? bit : 0;
    return true;
  }

  // Reads a charsmap, which is valid or, if `may_be_empty`, empty.
  bool charsmap(bool may_be_empty, std::vector<std::uint8_t> &result, std::size_t &growth) {
    std::uint32_t size = 0;
    if (!reader_.count(1, size))
      return false;
    result.assign(reader_.here(), reader_.here() + size);
    const std::string problem =
        size == 0 && !may_be_empty ? "is truncated" : problem_of_charsmap(result, &growth);
    return reader_.skip(size) &&
           (problem.empty() || reader_.fail("has a charsmap that " + problem));
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

  bool read_step(NormalizerStep &step, std::optional<SentencePieceSpec> &sentencepiece) {
    using Type = NormalizerStep::Kind;
    std::uint32_t kind = 0;
    if (!number(static_cast<std::uint32_t>(Type::SENTENCEPIECE), kind))
      return false;
    step.kind = static_cast<Type>(kind);
    std::uint32_t &options = step.options;
    switch (step.kind) {
    case Type::STRIP:
      return option(NormalizerStep::STRIP_LEFT, options) &&
             option(NormalizerStep::STRIP_RIGHT, options);
    case Type::BERT: {
      std::uint32_t accents = 0;
      if (!option(NormalizerStep::CLEAN_TEXT, options) ||
          !option(NormalizerStep::CHINESE, options) || !number(2, accents))
        return false;
      options |= accents == 2   ? NormalizerStep::ACCENTS_AS_LOWER
                 : accents == 1 ? NormalizerStep::ACCENTS
                                : 0U;
      return option(NormalizerStep::LOWER, options);
    }
    case Type::PREPEND:
      return text(true, step.replacement.content);
    case Type::REPLACE:
      if (!read_replacement(step.replacement))
        return false;
      step.kind = step.replacement.regex ? Type::REPLACE_REGEX : Type::REPLACE;
      return true;
    case Type::PRECOMPILED:
      return charsmap(false, step.charsmap, step.charsmap_growth);
    case Type::SENTENCEPIECE: {
      SentencePieceSpec &normalizer = sentencepiece.emplace();
      return charsmap(true, normalizer.charsmap, step.charsmap_growth) &&
             flag(normalizer.options.add_dummy_prefix) &&
             flag(normalizer.options.remove_extra_whitespaces) &&
             flag(normalizer.options.escape_whitespaces) &&
             flag(normalizer.options.treat_whitespace_as_suffix);
    }
    default:
      return true;
    }
  }

  bool read_replacement(Replacement &replacement) {
    bool is_regex = false;
    if (!text(false, replacement.pattern) || !flag(is_regex))
      return false;
    if (is_regex && (!read_program(replacement.regex.emplace()) ||
                     (replacement.regex->stages.size() != 1 &&
                      !reader_.fail("has a regex of several stages"))))
      return false;
    return text(true, replacement.content);
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
    reader_.error() = unsupported("the file uses Unicode ", quote(unicode),
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
      reader_.error() = unsupported("the file uses preset ", quote(name),
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

  bool read_decoder(TokenizerSpec &spec) {
    std::uint32_t count = 0;
    if (!number(MAX_STEPS + 1, count))
      return false;
    if (count == 0)
      return true;
    spec.decoder.emplace();
    for (std::uint32_t i = 1; i < count; ++i)
      if (!read_decoder_step(spec.decoder->emplace_back(), spec.decoding))
        return false;
    const std::string problem = problem_of_growth(*spec.decoder);
    if (!problem.empty())
      reader_.error() = unsupported("the file has decoders that ", problem);
    if (spec.decoding) {
      if (count != 2)
        return fail_unknown();
      spec.decoder.reset();
    }
    return problem.empty();
  }

  bool read_decoder_step(DecoderStep &step, std::optional<TextDecoding> &sentencepiece) {
    using Type = DecoderStep::Kind;
    std::uint32_t kind = 0;
    std::uint32_t scheme = 0;
    if (!number(static_cast<std::uint32_t>(Type::SENTENCEPIECE), kind))
      return false;
    step.kind = static_cast<Type>(kind);
    switch (step.kind) {
    case Type::STRIP:
      return read_character(step.text) && number(MAX_STRIP_COUNT, step.start) &&
             number(MAX_STRIP_COUNT, step.stop);
    case Type::REPLACE:
      if (!read_replacement(step.replacement))
        return false;
      step.kind = step.replacement.regex ? Type::REPLACE_REGEX : Type::REPLACE;
      return true;
    case Type::METASPACE:
      if (!read_character(step.text) || !number(2, scheme))
        return false;
      step.removes_first = scheme != static_cast<std::uint32_t>(MetaspaceSpec::Prepend::NEVER);
      return true;
    case Type::BPE:
      return text(false, step.text);
    case Type::WORD_PIECE:
      return text(true, step.text) && flag(step.cleanup);
    case Type::CTC:
      return text(true, step.text) && text(true, step.delimiter) && flag(step.cleanup);
    case Type::SENTENCEPIECE: {
      TextDecoding &decoding = sentencepiece.emplace();
      decoding.is_sentencepiece = true;
      std::string_view unknown;
      if (!number(1, decoding.strips) || !flag(decoding.strips_again) || !reader_.text(unknown))
        return false;
      decoding.unknown = unknown;
      return true;
    }
    default:
      return true;
    }
  }

  PretokFileReader &reader_;
};

} // namespace

bool read_steps_section(PretokFileReader &reader, TokenizerSpec &spec) {
  return StepReader(reader).read(spec);
}

} // namespace pretok
