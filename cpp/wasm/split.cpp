// The boundaries of pre-tokens, and the rules that made them.
#include "capi/handles.hpp"
#include "core/simd/kernels.hpp"
#include "core/unicode/unicode.hpp"
#include "wasm/results.hpp"
#include "wasm/source.hpp"

using namespace pretok;

// Returns whether the module has a Unicode version.
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

// Result 0: the n + 1 boundaries of n pre-tokens. No stage may remove text.
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

// Results 0 to 2: the starts, ends and rules of pre-tokens. GAP becomes 2^32 - 1.
PRETOK_WASM(pretok_wasm_steps)
void pretok_wasm_steps(const pretok_pre_tokenizer *handle, const void *text, std::size_t size,
                       int is_utf8, int unit) {
  const PreTokenizer &pre_tokenizer = handle->named.pre_tokenizer;
  for (std::vector<std::uint32_t> &result : results)
    result.clear();
  const auto add = [](std::size_t start, std::size_t end, int rule) {
    results[0].push_back(static_cast<std::uint32_t>(start));
    results[1].push_back(static_cast<std::uint32_t>(end));
    results[2].push_back(static_cast<std::uint32_t>(rule));
  };
  with_source({text, size, is_utf8 != 0}, pre_tokenizer.classes(), [&](const auto &source) {
    pre_tokenizer.steps(source, add);
    convert(source, results[0], unit_of(unit));
    convert(source, results[1], unit_of(unit));
  });
}
