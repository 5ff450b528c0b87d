// Reads a vocabulary of a GGUF file whose BPE merges characters by listed merges.
#include "core/normalize/normalizer_step.hpp"
#include "formats/character_model.hpp"
#include "formats/gguf_parts.hpp"
#include "formats/load_error.hpp"
#include "formats/text_model.hpp"
#include "formats/text_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {
namespace {

// The maximum length of a token that is a run of line breaks. merges_to_one takes cubic time.
constexpr std::size_t MAX_BREAKS = 256;

bool has_break(std::string_view text) { return text.find('\n') != std::string_view::npos; }
bool is_break_run(std::string_view text) {
  return text.find_first_not_of('\n') == std::string_view::npos && !text.empty();
}

// The merges of runs of line breaks. A run stands for its length.
class BreakRuns {
public:
  explicit BreakRuns(const std::vector<TextMerge> &merges) {
    for (const auto &[left, right] : merges)
      if (is_break_run(left) && is_break_run(right) && left.size() + right.size() <= MAX_BREAKS)
        ranks_[left.size() * (MAX_BREAKS + 1) + right.size()] = count_++;
  }

  // Returns whether a run of `length` line breaks merges to one token.
  bool merges_to_one(std::size_t length) const {
    std::vector<std::size_t> symbols(length, 1);
    for (std::size_t at = 0; (at = next(symbols)) + 1 < symbols.size();) {
      symbols[at] += symbols[at + 1];
      symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    return symbols.size() == 1;
  }

private:
  // Returns the index of the left symbol of the leftmost pair with the lowest rank. If no pair
  // merges, returns the index of the last symbol.
  std::size_t next(const std::vector<std::size_t> &symbols) const {
    std::size_t best = symbols.size() - 1;
    std::size_t lowest = NO_RANK;
    for (std::size_t at = 0; at + 1 < symbols.size(); ++at) {
      const std::size_t rank = ranks_[symbols[at] * (MAX_BREAKS + 1) + symbols[at + 1]];
      if (rank < lowest) {
        lowest = rank;
        best = at;
      }
    }
    return best;
  }

  static constexpr std::size_t NO_RANK = static_cast<std::size_t>(-1);
  std::vector<std::size_t> ranks_{
      std::vector<std::size_t>((MAX_BREAKS + 1) * (MAX_BREAKS + 1), NO_RANK)};
  std::size_t count_ = 0;
};

// llama.cpp splits the text at runs of line breaks. Fails if this split changes ids.
LoadError check_breaks(const TextModel &source, bool takes_runs) {
  for (const auto &[left, right] : source.merges) {
    const std::string text = std::string(left) + std::string(right);
    if (has_break(text) && !is_break_run(text))
      return unsupported(
          "a merge makes ", quote(text),
          ", which has a line break and other characters; llama.cpp never merges "
          "them, and pretok does not support such a vocabulary");
  }
  const BreakRuns runs(source.merges);
  for (const std::string_view text : source.texts)
    if (takes_runs && is_break_run(text) &&
        (text.size() > MAX_BREAKS || !runs.merges_to_one(text.size())))
      return unsupported("llama.cpp encodes ", text.size(),
                         " line breaks as one token, but the "
                         "merges make other tokens of them; pretok does not support such a "
                         "vocabulary");
  return {};
}

} // namespace

LoadError read_gguf_characters(const std::vector<GgufValue> &values, bool takes_runs,
                               TokenizerSpec &spec) {
  const GgufValue &tokens = values[GgufKey::TOKENS];
  if (tokens.kind != GgufValue::STRINGS || tokens.texts.empty())
    return unexpected(tokens, "an array of strings, one for each token");
  if (LoadError error = check_types(values[GgufKey::TYPES], tokens.texts.size(), true))
    return error;
  TextModel source;
  source.texts = tokens.texts;
  for (std::uint32_t id = 0; id < tokens.texts.size(); ++id)
    source.ids.push_back(id);
  source.merges_name = values[GgufKey::MERGES].key.data();
  const TextIndex places(source.texts);
  if (LoadError error = check_unique(source.texts, places))
    return error;
  if (LoadError error = read_merges(values[GgufKey::MERGES], source.merges))
    return error;
  if (LoadError error = list_texts(source, places, spec.vocabulary))
    return error;
  if (spec.vocabulary.ids.empty())
    return malformed(tokens.key, " has only empty tokens; expected at least one other token");
  if (LoadError error = check_breaks(source, takes_runs))
    return error;
  spec.vocabulary.ignore_merges = false;
  spec.text.emplace().has_fallback = true;
  spec.steps.push_back(NORMALIZER_TYPES.make("Replace"));
  spec.steps.back().replacement = {" ", std::string(SPACE_MARK), {}};
  spec.stages = cut_nowhere();
  spec.split_at_marks = SplitAtMarks::NO;
  set_gguf_decoder(false, spec);
  list_added(values, "", spec);
  const std::string problem = problem_of_text(spec);
  if (!problem.empty())
    return unsupported("the model ", problem);
  use_character_spec(spec); // or leaves the spec as it is, which is slower
  return {};
}

} // namespace pretok
