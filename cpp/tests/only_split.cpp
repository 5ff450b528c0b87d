// A program that only splits text, to check that it links only the code for splitting.
#include "core/split/pre_tokenizer.hpp"
#include "core/split/presets.hpp"
#include "core/split/program.hpp"
#include "core/unicode/unicode.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

using namespace pretok;

int main() {
  const Preset *preset = find_preset("cl100k");
  std::vector<StageProgram> stages;
  if (preset == nullptr || !read_stages(preset->words(), stages).empty())
    return 1;
  const PreTokenizer pre_tokenizer(stages, unicode_table(preset->unicode));
  const std::string_view text = "I'm  here";
  const Utf8 source(reinterpret_cast<const std::uint8_t *>(text.data()), text.size(),
                    pre_tokenizer.classes());
  std::string split;
  pre_tokenizer.spans(source, kernels(), [&](std::size_t start, std::size_t end, int) {
    split += text.substr(start, end - start);
    split += '|';
  });
  if (split == "I|'m| | here|")
    return 0;
  std::fprintf(stderr, "expected I|'m| | here|, got %s\n", split.c_str());
  return 1;
}
