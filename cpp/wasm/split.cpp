// Splits a text: the boundaries of its pre-tokens, and the rules that made the pre-tokens.
#include "capi/handles.hpp"
#include "core/unicode/unicode.hpp"
#include "wasm/first_rules.hpp"
#include "wasm/results.hpp"
#include "wasm/source.hpp"

namespace pretok {
namespace {

// Writes the starts, ends and rules of pre-tokens to results 0 to 2.
template <typename Source>
void split_with_rules(const PreTokenizer &pre_tokenizer, const Source &source) {
  std::vector<std::uint32_t> &starts = results[0];
  std::vector<std::uint32_t> &ends = results[1];
  std::vector<std::uint32_t> &rules = results[2];
  const Machine *machine = pre_tokenizer.only();
  if (machine == nullptr) {
    pre_tokenizer.steps(source, [&](std::size_t start, std::size_t end, int rule) {
      starts.push_back(static_cast<std::uint32_t>(start));
      ends.push_back(static_cast<std::uint32_t>(end));
      rules.push_back(static_cast<std::uint32_t>(rule));
    });
    return;
  }
  for (std::vector<std::uint32_t> &result : results)
    result.reserve(source.size() / 4 + 2);
  FirstRules first_rules(*machine);
  Text<Source> text(source, false);
  std::size_t start = 0;
  split(pre_tokenizer, source, [&](const std::size_t *found, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      starts.push_back(static_cast<std::uint32_t>(start));
      rules.push_back(static_cast<std::uint32_t>(first_rules.rule_at(text, start)));
      start = found[i];
    }
    ends.insert(ends.end(), found, found + count);
  });
}

} // namespace
} // namespace pretok

using namespace pretok;

// Returns whether the module has the tables of a Unicode version.
PRETOK_WASM(pretok_wasm_has_unicode)
int pretok_wasm_has_unicode(const char *version) { return unicode_table(version).size != 0; }

// Returns the number of pre-tokens.
PRETOK_WASM(pretok_wasm_count)
std::size_t pretok_wasm_count(const pretok_pre_tokenizer *handle, const void *text,
                              std::size_t size, int is_utf8) {
  const PreTokenizer &pre_tokenizer = handle->named.pre_tokenizer;
  std::size_t total = 0;
  with_source({text, size, is_utf8 != 0}, pre_tokenizer.classes(),
              [&](const auto &source) { total = count(pre_tokenizer, source); });
  return total;
}

// Result 0: the n + 1 boundaries of the n pre-tokens, in `unit`. No stage may remove text.
PRETOK_WASM(pretok_wasm_offsets)
void pretok_wasm_offsets(const pretok_pre_tokenizer *handle, const void *text, std::size_t size,
                         int is_utf8, int unit) {
  const PreTokenizer &pre_tokenizer = handle->named.pre_tokenizer;
  std::vector<std::uint32_t> &bounds = results[0];
  bounds.assign(1, 0);
  bounds.reserve(size / 4 + 2);
  with_source({text, size, is_utf8 != 0}, pre_tokenizer.classes(), [&](const auto &source) {
    split(pre_tokenizer, source, [](const std::size_t *ends, std::size_t count) {
      results[0].insert(results[0].end(), ends, ends + count);
    });
    convert(source, bounds, unit_of(unit));
  });
}

// Results 0 to 2: the starts, ends and rules of the pre-tokens. The rule GAP becomes 2^32 - 1.
PRETOK_WASM(pretok_wasm_steps)
void pretok_wasm_steps(const pretok_pre_tokenizer *handle, const void *text, std::size_t size,
                       int is_utf8, int unit) {
  const PreTokenizer &pre_tokenizer = handle->named.pre_tokenizer;
  for (std::vector<std::uint32_t> &result : results)
    result.clear();
  with_source({text, size, is_utf8 != 0}, pre_tokenizer.classes(), [&](const auto &source) {
    split_with_rules(pre_tokenizer, source);
    convert(source, results[0], unit_of(unit));
    convert(source, results[1], unit_of(unit));
  });
}
