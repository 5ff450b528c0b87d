// Fuzzes splitting with the built-in presets. Compares the fast path with the rule machine,
// which applies the rules one by one. Also checks safe cuts.
#include "core/split/presets.hpp"
#include "fuzz/splitting.hpp"

#include <map>
#include <memory>

namespace {

using namespace pretok;

const PreTokenizer &tokenizer_of(std::size_t preset, std::size_t version) {
  static std::map<std::size_t, std::unique_ptr<PreTokenizer>> cache;
  static const char *const VERSIONS[] = {"15.0", "15.1", "16.0", "17.0", "18.0"};
  const std::size_t key = version % 5 * preset_count() + preset;
  std::unique_ptr<PreTokenizer> &tokenizer = cache[key];
  if (tokenizer == nullptr) {
    std::vector<StageProgram> stages;
    check(read_stages(preset_at(preset).words(), stages).empty(),
          "a built-in preset can be read");
    tokenizer = std::make_unique<PreTokenizer>(stages, unicode_table(VERSIONS[version % 5]));
  }
  return *tokenizer;
}

// Returns the code points of UTF-8 bytes. Truncates each code point to the size of Unit.
template <typename Unit>
std::vector<Unit> code_points_of(const std::vector<std::uint8_t> &bytes) {
  std::vector<Unit> units;
  for (std::size_t at = 0; at < bytes.size();) {
    const Decoded decoded = decode_utf8(bytes.data() + at, bytes.size() - at);
    units.push_back(static_cast<Unit>(decoded.code_point));
    at += decoded.width;
  }
  return units;
}

template <typename Unit>
void check_units(const PreTokenizer &tokenizer, const std::vector<Unit> &units,
                 const Kernels &kernels) {
  check_split(tokenizer, CodePoints<Unit>(units.data(), units.size(), tokenizer.classes()),
              kernels);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const std::size_t preset = input.below(preset_count());
  const std::uint8_t choices = input.byte();
  const std::uint8_t more_choices = input.byte();
  const PreTokenizer &tokenizer = tokenizer_of(preset, more_choices & 7);
  const Kernels &kernels = kernels_at(more_choices >> 3);
  // Sometimes begin the text with a run that fills most of a ClassBuffer. The rest of the text
  // then crosses the end of the buffer.
  std::vector<std::uint8_t> text;
  if (choices >> 4 == 15)
    text.assign(ClassBuffer::MAX_CODE_POINTS - input.below(128), input.byte());
  const std::size_t known_part = input.byte();
  const std::vector<std::uint8_t> rest = (choices & 8) != 0 ? input.rest() : input.text();
  text.insert(text.end(), rest.begin(), rest.end());
  text.shrink_to_fit();
  switch (choices & 7) {
  case 0:
    check_units(tokenizer, text, kernels);
    break;
  case 1:
    check_units(tokenizer, code_points_of<std::uint16_t>(text), kernels);
    break;
  case 2:
    check_units(tokenizer, code_points_of<std::uint32_t>(text), kernels);
    break;
  default:
    const Positions whole =
        check_split(tokenizer, Utf8(text.data(), text.size(), tokenizer.classes()), kernels);
    if (!tokenizer.removes() && !text.empty())
      check_safe_cut(tokenizer, text, text.size() * known_part / 255, kernels, whole);
  }
  return 0;
}
