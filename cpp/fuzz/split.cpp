// Text, by a preset that is built in: the fast path against the machine of rules, and cuts.
#include "core/split/presets.hpp"
#include "fuzz/splitting.hpp"

#include <map>
#include <memory>

namespace {

using namespace pretok;

const PreTokenizer &tokenizer_of(std::size_t preset, std::size_t version) {
  static std::map<std::size_t, std::unique_ptr<PreTokenizer>> known;
  static const char *const VERSIONS[] = {"15.0", "15.1", "16.0", "17.0", "18.0"};
  const std::size_t number = version % 5 * preset_count() + preset;
  std::unique_ptr<PreTokenizer> &found = known[number];
  if (found == nullptr) {
    std::vector<StageProgram> stages;
    check(read_stages(preset_at(preset).words, preset_at(preset).word_count, stages) == nullptr,
          "a preset that is built in can be read");
    found = std::make_unique<PreTokenizer>(stages, unicode_table(VERSIONS[version % 5]));
  }
  return *found;
}

template <typename Unit> std::vector<Unit> units_of(const std::vector<std::uint8_t> &bytes) {
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
                 const Kernels &use) {
  check_split(tokenizer, CodePoints<Unit>(units.data(), units.size(), tokenizer.classes()),
              use);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  const std::size_t preset = input.below(preset_count());
  const std::uint8_t how = input.byte();
  const std::uint8_t of_whom = input.byte();
  const PreTokenizer &tokenizer = tokenizer_of(preset, of_whom & 7);
  const Kernels &use = kernels_at(of_whom >> 3);
  // So that what follows is at the end of a ClassBuffer, sometimes.
  std::vector<std::uint8_t> text;
  if (how >> 4 == 15)
    text.assign(ClassBuffer::MAX_CODE_POINTS - input.below(128), input.byte());
  const std::size_t known = input.byte();
  const std::vector<std::uint8_t> behind = (how & 8) != 0 ? input.rest() : input.text();
  text.insert(text.end(), behind.begin(), behind.end());
  text.shrink_to_fit();
  switch (how & 7) {
  case 0:
    check_units(tokenizer, text, use);
    break;
  case 1:
    check_units(tokenizer, units_of<std::uint16_t>(text), use);
    break;
  case 2:
    check_units(tokenizer, units_of<std::uint32_t>(text), use);
    break;
  default:
    const Places whole =
        check_split(tokenizer, Utf8(text.data(), text.size(), tokenizer.classes()), use);
    if (!tokenizer.removes() && !text.empty())
      check_safe_cut(tokenizer, text, text.size() * known / 255, use, whole);
  }
  return 0;
}
