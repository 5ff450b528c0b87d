#include "bindings/tokenizer_of_values.hpp"

#include "bindings/convert.hpp"
#include "bindings/native_machine.hpp"
#include "formats/character_spec.hpp"
#include "formats/pretok_file_steps.hpp"
#include "formats/text_spec.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace pretok {
namespace {

// Splits that depend on no Unicode version: all code points have the same class.
constexpr std::uint32_t ONE_CLASS[] = {0};

struct Values {
  std::shared_ptr<NativeMachine> machine;
  py::bytes bytes;
  Array<std::uint32_t> lengths;
  Array<std::uint32_t> ids;
  std::size_t mergeable;
  std::optional<Array<std::uint32_t>> merges;
  bool from_ranks;
  bool ignore_merges;
  std::size_t cache_limit;
  TextSpaces spaces;
  std::optional<AnyTextModel> text;
  std::size_t id_limit;
  TextCuts cuts;
  py::bytes normalizer;
  std::vector<std::string> symbols;
};

TextSpaces make_spaces(bool add_prefix_space, const std::optional<MarkedSpaces> &marked) {
  TextSpaces spaces = TextSpaces::of(add_prefix_space);
  if (!marked)
    return spaces;
  const auto &[prefix, only_first, replaces_invalid, prefix_has_span, precedes_tokens] =
      *marked;
  if (prefix != "never" && prefix != "always" && prefix != "unless_space")
    throw py::value_error("expected the prefix \"never\", \"always\" or \"unless_space\"");
  spaces.prefix = prefix == "never"    ? TextSpaces::Prefix::NONE
                  : prefix == "always" ? TextSpaces::Prefix::ALWAYS
                                       : TextSpaces::Prefix::UNLESS_SPACE;
  spaces.are_marks = true;
  spaces.only_first = only_first;
  spaces.replaces_invalid = replaces_invalid;
  spaces.prefix_has_span = prefix_has_span;
  spaces.precedes_tokens = precedes_tokens;
  return spaces;
}

TextCuts cuts_of(const std::string &name) {
  if (name != "split" && name != "at_marks" && name != "whole")
    throw py::value_error("expected the cuts \"split\", \"at_marks\" or \"whole\"");
  return name == "split"      ? TextCuts::SPLIT
         : name == "at_marks" ? TextCuts::AT_MARKS
                              : TextCuts::WHOLE;
}

VocabularyData data_of(const Values &values, bool for_short_texts) {
  VocabularyData data;
  const std::string_view bytes = view_of(values.bytes);
  data.bytes.assign(bytes.begin(), bytes.end());
  data.lengths = as_vector(values.lengths);
  data.ids = as_vector(values.ids);
  data.mergeable = values.mergeable;
  data.from_ranks = values.from_ranks;
  data.ignore_merges = values.ignore_merges;
  data.for_short_texts = for_short_texts;
  if (values.merges)
    data.merges = merges_of(*values.merges);
  return data;
}

// Returns a spec whose members `nfc`, `steps`, `metaspace` and `sentencepiece` are those of a
// stored normalizer.
TokenizerSpec read_normalizer(const py::bytes &stored) {
  const std::string_view bytes = view_of(stored);
  TokenizerSpec spec;
  if (bytes.empty())
    return spec;
  PretokFileReader reader(reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size(),
                          0);
  if (!read_steps_section(reader, spec))
    throw py::value_error(reader.error().message);
  use_nfc(spec);
  return spec;
}

// Returns the pre-tokenizer of the model, or else that of `values`.
NamedPreTokenizer make_split(const Values &values, std::vector<StageProgram> stages) {
  if (stages.empty() && values.machine)
    return {"", values.machine->pre_tokenizer()};
  if (stages.empty())
    stages = cut_nowhere();
  return {"", PreTokenizer(std::move(stages), UnicodeTable{ONE_CLASS, 1})};
}

std::unique_ptr<const Tokenizer> make(const Values &values, bool for_short_texts,
                                      bool is_alone) {
  VocabularyData data = data_of(values, for_short_texts);
  auto vocabulary = std::make_unique<Vocabulary>();
  TextParts text;
  const char *problem = nullptr;
  if (values.from_ranks && for_short_texts) {
    problem = build_ranks(values.bytes, std::move(data), *vocabulary);
  } else {
    unlocked(is_alone ? MIN_SIZE_TO_RELEASE : 0, [&] {
      problem = values.text
                    ? build_text(*values.text, std::move(data),
                                 static_cast<std::uint32_t>(values.id_limit),
                                 values.spaces.are_marks, values.cuts, *vocabulary, text)
                    : vocabulary->build(std::move(data));
    });
  }
  if (problem != nullptr)
    throw py::value_error(problem);
  TokenizerSpec spec = read_normalizer(values.normalizer);
  std::unique_ptr<NormalizerChain> chain;
  if (!spec.steps.empty() || spec.metaspace)
    chain = std::make_unique<NormalizerChain>(std::move(spec.steps), std::move(spec.metaspace));
  std::optional<SentencePieceNormalizer> sentencepiece;
  if (spec.sentencepiece)
    sentencepiece.emplace(make_normalizer(*spec.sentencepiece, values.symbols));
  Decoder decoder(*vocabulary, std::nullopt, std::nullopt, {}, {});
  return std::make_unique<const Tokenizer>(
      TokenizerParts{spec.nfc,
                     std::move(sentencepiece),
                     std::move(chain),
                     {},
                     make_split(values, std::move(text.stages)),
                     values.spaces,
                     text.is_whole,
                     values.cache_limit,
                     std::move(vocabulary),
                     {},
                     std::move(decoder),
                     values.id_limit,
                     {}});
}

} // namespace

std::unique_ptr<NativeTokenizer>
tokenizer_of_values(const std::shared_ptr<NativeMachine> &machine, const py::bytes &bytes,
                    const Array<std::uint32_t> &lengths, const Array<std::uint32_t> &ids,
                    std::size_t mergeable, const std::optional<Array<std::uint32_t>> &merges,
                    bool from_ranks, bool ignore_merges, bool add_prefix_space,
                    std::size_t cache_limit, const std::optional<MarkedSpaces> &marked_spaces,
                    const std::optional<AnyTextModel> &text, std::uint32_t id_limit,
                    const std::string &cuts, const py::bytes &normalizer,
                    std::vector<std::string> symbols, bool is_deferred) {
  std::size_t limit = text ? id_limit : 0;
  if (!text)
    for (const std::uint32_t id : as_vector(ids))
      limit = std::max(limit, id + std::size_t{1});
  Values values{machine,
                bytes,
                lengths,
                ids,
                mergeable,
                merges,
                from_ranks,
                ignore_merges,
                cache_limit,
                make_spaces(add_prefix_space, marked_spaces),
                text,
                limit,
                cuts_of(cuts),
                normalizer,
                std::move(symbols)};
  return std::make_unique<NativeTokenizer>(
      [values = std::move(values)](bool for_short_texts, bool is_alone) {
        return make(values, for_short_texts, is_alone);
      },
      is_deferred, limit);
}

} // namespace pretok
