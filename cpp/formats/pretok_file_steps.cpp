#include "formats/pretok_file_reader.hpp"

#include "core/normalize/growth.hpp"
#include "core/split/presets.hpp"
#include "formats/character_spec.hpp"
#include "formats/load_error.hpp"
#include "formats/piece_file.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace pretok {
namespace {

// The maximum number of normalizers, and of decoders; MAX_STEPS of bpe/normalizers/stored.py.
constexpr std::uint32_t MAX_STEPS = 256;

// Reads the fields of steps. After a function has failed, all functions do nothing.
class StepReader final : private StepFields {
public:
  explicit StepReader(PretokFileReader &reader) : reader_(reader) {}

  bool read(TokenizerSpec &spec) {
    read_list(NORMALIZER_TYPES, number(MAX_STEPS), spec.steps, "normalizers", "text");
    read_metaspace(spec.metaspace);
    if (const std::uint32_t count = number(MAX_STEPS + 1))
      read_list(DECODER_TYPES, count - 1, spec.decoder.emplace(), "decoders", "token");
    for (const NormalizerStep &step : spec.steps)
      if (is_fine_ && step.is("SentencePieceNormalizer"))
        spec.sentencepiece = SentencePieceSpec{step.sentencepiece, step.charsmap.bytes};
    if (spec.sentencepiece) {
      if (spec.steps.size() != 1 || spec.metaspace)
        fail_unknown();
      spec.steps.clear();
    }
    use_sentencepiece_decoding(spec);
    return is_fine_;
  }

private:
  void check(bool is_fine) { is_fine_ = is_fine_ && is_fine; }
  void fail_unknown() {
    if (is_fine_)
      is_fine_ = reader_.fail("has an unknown normalizer or decoder");
  }
  void fail_unsupported(const std::string &problem) {
    if (is_fine_)
      reader_.error() = unsupported("the file " + problem);
    is_fine_ = false;
  }

  std::uint32_t number(std::uint32_t limit) {
    std::uint32_t result = 0;
    check(is_fine_ && reader_.number(result));
    if (result > limit)
      fail_unknown();
    return is_fine_ ? result : 0;
  }

  void flag(const char *, bool &value) override { value = number(1) != 0; }
  void optional_flag(const char *, std::optional<bool> &value) override {
    const std::uint32_t read = number(2);
    if (read != 2)
      value = read != 0;
  }
  void count(const char *, std::uint32_t &value) override { value = number(MAX_STEP_COUNT); }
  void scheme(const char *, PrependScheme &value) override {
    value = static_cast<PrependScheme>(number(2));
  }
  void any_text(const char *, std::string &value) override {
    std::string_view view;
    check(is_fine_ && reader_.text(view));
    value = view;
  }
  void text(const char *name, std::string &value, bool may_be_empty) override {
    any_text(name, value);
    if (is_fine_ &&
        (count_characters(value) > MAX_STEP_TEXT || (value.empty() && !may_be_empty)))
      check(reader_.fail("has a text of a normalizer or decoder that is empty or too long"));
  }
  void character(const char *name, std::string &value) override {
    text(name, value, false);
    if (is_fine_ && count_characters(value) != 1)
      fail_unknown();
  }
  void pattern(const char *name, Replacement &value) override {
    text(name, value.pattern, false);
    if (number(1) == 0)
      return;
    read_program(value.regex.emplace());
    if (is_fine_ && value.regex->stages.size() != 1)
      check(reader_.fail("has a regex of several stages"));
  }
  void charsmap(const char *, CharsmapData &value, bool may_be_empty) override {
    std::uint32_t size = 0;
    if (!is_fine_ || !(is_fine_ = reader_.count(1, size)))
      return;
    value.bytes.assign(reader_.here(), reader_.here() + size);
    const std::string problem = size == 0 && !may_be_empty
                                    ? "is truncated"
                                    : problem_of_charsmap(value.bytes, &value.growth);
    check(reader_.skip(size) &&
          (problem.empty() || reader_.fail("has a charsmap that " + problem)));
  }

  template <typename Step>
  void read_list(const StepTypes<Step> &types, std::uint32_t count, std::vector<Step> &steps,
                 const std::string &what, const char *unit) {
    for (std::uint32_t i = 0; i < count && is_fine_; ++i) {
      Step &step = steps.emplace_back();
      step.type = types.first + number(static_cast<std::uint32_t>(types.count - 1));
      step.type->visit(step, *this);
    }
    Growth growth;
    const std::string problem = is_fine_ ? add_growth(steps, unit, growth) : "";
    if (!problem.empty())
      fail_unsupported("has " + what + " that " + problem);
  }

  // Reads a Unicode version and the words of a program.
  void read_program(SplitSpec &split) {
    read_table(split.table);
    std::uint32_t count = 0;
    check(is_fine_ && reader_.count(1, count));
    std::vector<std::uint32_t> words(is_fine_ ? count : 0);
    for (std::uint32_t &word : words)
      check(is_fine_ && reader_.number(word));
    read_words(words, split);
  }

  void read_table(UnicodeTable &table) {
    std::string unicode;
    any_text("", unicode);
    table = unicode_table(unicode);
    if (table.size == 0)
      fail_unsupported("uses Unicode " + quote(unicode) +
                       ", which this version of pretok does not have; save the tokenizer again "
                       "with a Unicode version that it has");
  }

  void read_words(const std::vector<std::uint32_t> &words, SplitSpec &split) {
    const std::string error = is_fine_ ? read_stages(words, split.stages) : "";
    check(error.empty() || reader_.fail("has a wrong program: " + error));
  }

  // Reads a preset in the form of the section `preset`.
  void read_preset(bool is_own, SplitSpec &split) {
    std::string name;
    any_text("", name);
    if (is_own) {
      read_program(split);
      return any_text("", name); // the description, which only Python shows
    }
    const Preset *preset = find_preset(name);
    if (preset == nullptr || name != preset->name)
      return fail_unsupported("uses preset " + quote(name) +
                              ", which this version of pretok does not have");
    read_table(split.table);
    read_words(preset->words(), split);
  }

  void read_metaspace(std::optional<MetaspaceSpec> &metaspace) {
    const std::uint32_t scheme = number(3);
    if (scheme == 0)
      return;
    MetaspaceSpec &spec = metaspace.emplace();
    spec.prepend = static_cast<PrependScheme>(scheme - 1);
    character("", spec.replacement);
    if (const std::uint32_t before = number(2))
      read_preset(before == 2, spec.before.emplace());
  }

  // Sets spec.decoding in place of spec.decoder if it is that of SentencePiece, which stands
  // alone.
  void use_sentencepiece_decoding(TokenizerSpec &spec) {
    for (std::size_t i = 0; is_fine_ && spec.decoder && i < spec.decoder->size(); ++i) {
      const DecoderStep &step = (*spec.decoder)[i];
      if (!step.is("SentencePieceDecoding"))
        continue;
      if (spec.decoder->size() != 1)
        return fail_unknown();
      spec.decoding =
          SentencePieceDecoding{step.strips_space, step.strips_spaces, step.text, {}};
      return spec.decoder.reset();
    }
  }

  PretokFileReader &reader_;
  bool is_fine_ = true;
};

} // namespace

bool read_steps_section(PretokFileReader &reader, TokenizerSpec &spec) {
  return StepReader(reader).read(spec);
}

} // namespace pretok
