// Fuzzes the reader of programs. A program is an array of words that encodes the rules of a
// preset. Each program that the reader accepts must split any text completely and in linear
// time. The fast path must give the spans that the rules define. Splitting at safe cuts, and
// splitting in two steps, must give these spans too.
#include "core/split/program.hpp"
#include "core/split/presets.hpp"
#include "fuzz/splitting.hpp"
#include "tests/counted_text.hpp"

#include <algorithm>

namespace {

using namespace pretok;

using Record = std::vector<std::uint32_t>;

// Only one in LONG_TEXT_INTERVAL inputs has a text that fills several ClassBuffers, because
// such a text takes a hundred times as long as a short text.
constexpr std::uint32_t LONG_TEXT_INTERVAL = 64;

// The character classes. Each entry is the first code point of a run << 8 | the class of the
// run. With so few runs, building the class table takes little time.
constexpr std::uint32_t RUNS[] = {
    0x00 << 8 | 0,     '\t' << 8 | 1,   '\n' << 8 | 2,   0x0B << 8 | 1,    ' ' << 8 | 3,
    '!' << 8 | 4,      '\'' << 8 | 5,   '(' << 8 | 6,    '0' << 8 | 7,     ':' << 8 | 4,
    'A' << 8 | 8,      '[' << 8 | 9,    'a' << 8 | 10,   '{' << 8 | 11,    0x80 << 8 | 12,
    0x17F << 8 | 10,   0x300 << 8 | 13, 0x3000 << 8 | 3, 0x4E00 << 8 | 14, 0xD800u << 8 | 15,
    0x10000u << 8 | 16};

// Returns up to 255 arbitrary words after a valid first word.
Record raw_words(Input &input) {
  Record words{0x70740002};
  for (std::size_t count = input.byte(); count != 0 && input.left() != 0; --count)
    words.push_back(input.coin() ? input.word() : input.byte());
  return words;
}

// Returns the words of a preset with up to 7 changes.
Record patched_words(Input &input) {
  const Preset &preset = preset_at(input.below(preset_count()));
  Record words = preset.words();
  for (std::size_t left = input.below(8); left != 0; --left) {
    const std::size_t at = (input.byte() * std::size_t{256} + input.byte()) % words.size();
    switch (input.below(5)) {
    case 0:
      words[at] = input.byte();
      break;
    case 1:
      words[at] ^= std::uint32_t{1} << input.below(32);
      break;
    case 2:
      words[at] = input.word();
      break;
    case 3:
      words.resize(at + 1);
      break;
    default:
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), input.byte());
    }
  }
  return words;
}

void add_text(Input &input, Record &words) {
  static constexpr std::uint32_t LETTERS[] = {'a', 's',   '\'',   ' ', '\n',
                                              '1', 0x17F, 0x4E00, 'S'};
  const std::size_t length = 1 + input.below(3);
  words.push_back(static_cast<std::uint32_t>(length));
  for (std::size_t i = 0; i < length; ++i)
    words.push_back(LETTERS[input.below(sizeof LETTERS / sizeof *LETTERS)]);
}

void add_texts(Input &input, Record &words) {
  const std::size_t count = 1 + input.below(3) + (input.below(32) == 0 ? input.byte() : 0U);
  words.push_back(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i)
    add_text(input, words);
}

// Returns 1 to 4 stages of rules with arbitrary masks and counts.
Record random_rules(Input &input) {
  const auto kind = static_cast<std::uint32_t>(input.below(16));
  Record words{0x70740002, kind % 4 < 3 ? 1 : 2 + kind / 4 % 3};
  for (std::uint32_t stage = 0; stage < words[1]; ++stage) {
    words.push_back(static_cast<std::uint32_t>(input.below(8) == 0 ? input.below(5) : 0));
    words.push_back(input.below(8) == 0);
    const std::size_t length_at = words.size();
    words.push_back(0);
    // 17 classes, and 1 range of code points, from 0 on, whose class map is 0, 1, ..., 16.
    words.insert(words.end(), {17, 1, 0, 0x03020100, 0x07060504, 0x0B0A0908, 0x0F0E0D0C, 16});
    const std::size_t rules = 1 + input.below(5);
    words.push_back(static_cast<std::uint32_t>(rules));
    const auto mask = [&] {
      const std::uint32_t low = input.byte();
      const std::uint32_t high = input.byte();
      return low | high << 8 | (input.below(32) == 0 ? input.word() : input.byte() & 1U) << 16;
    };
    const auto small = [&] {
      const std::uint32_t number = input.byte();
      return number < 252 ? number % 6 : number == 252 ? input.word() : input.byte();
    };
    // All rules of type 3 (spaces) in a stage must have the same two masks. The reader refuses
    // a program whose masks differ, so this code seldom changes them.
    std::uint32_t space = 0;
    std::uint32_t newline = 0;
    for (std::size_t rule = 0; rule < rules; ++rule) {
      Record record{static_cast<std::uint32_t>(input.below(9))};
      switch (record[0]) {
      case 0:
        record.insert(record.end(), {mask(), small() & 1});
        add_texts(input, record);
        break;
      case 1:
        record.insert(record.end(),
                      {mask(), mask(), mask(), small(), small(), small(), small()});
        break;
      case 2:
        record.insert(record.end(), {mask(), mask(), mask()});
        if (input.coin()) {
          record.insert(record.end(), {mask(), small() & 1});
          add_texts(input, record);
        }
        break;
      case 3:
        if (space == 0 || input.below(16) == 0) {
          space = mask();
          newline = mask() & space;
        }
        record.insert(record.end(), {space, newline, small(), small(), small()});
        break;
      case 4:
        record.insert(record.end(), {mask(), mask()});
        add_texts(input, record);
        break;
      case 5:
        record.insert(record.end(), {mask(), mask(), mask(), small(), small()});
        add_text(input, record);
        add_text(input, record);
        break;
      default:
        record.insert(record.end(), {mask(), mask(), mask(), mask()});
      }
      words.push_back(static_cast<std::uint32_t>(record.size()));
      words.insert(words.end(), record.begin(), record.end());
    }
    words[length_at] = static_cast<std::uint32_t>(words.size() - length_at - 1);
  }
  return words;
}

// Repeats a part in the middle of `text`. Returns a text that fills about four ClassBuffers.
// `first` gives the start of the part, in 256ths of the text. `last` gives its end, in 256ths
// of the rest of the text.
std::vector<std::uint8_t> lengthened(const std::vector<std::uint8_t> &text, std::size_t first,
                                     std::size_t last) {
  const std::size_t size = text.size();
  const std::size_t from = size * first / 256;
  const std::size_t to = from + 1 + (size - from - 1) * last / 256;
  std::size_t code_points = 0;
  for (std::size_t i = from; i < to; ++i)
    code_points += (text[i] & 0xC0) != 0x80 ? 1U : 0U;
  // An invalid part may have only continuation bytes. Count at least one code point per four
  // bytes.
  code_points = std::max(code_points, (to - from + 3) / 4);
  const auto at = [&](std::size_t i) { return text.begin() + static_cast<std::ptrdiff_t>(i); };
  std::vector<std::uint8_t> result(text.begin(), at(to));
  for (std::size_t left = 4 * ClassBuffer::MAX_CODE_POINTS / code_points; left != 0; --left)
    result.insert(result.end(), at(from), at(to));
  result.insert(result.end(), at(to), text.end());
  result.shrink_to_fit();
  return result;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input input(data, size);
  // Only one in 8 inputs changes a preset, because a PreTokenizer of a preset takes long to
  // build.
  const std::size_t choice = input.below(8);
  Record words = choice == 0   ? raw_words(input)
                 : choice == 1 ? patched_words(input)
                               : random_rules(input);
  words.shrink_to_fit();
  std::vector<StageProgram> stages;
  if (!read_stages(words.data(), words.size(), stages).empty())
    return 0;
  const PreTokenizer tokenizer(stages, {RUNS, sizeof RUNS / sizeof *RUNS});
  const Kernels &kernels = kernels_at(input.byte());
  const std::size_t known_part = input.byte();
  const std::size_t first = input.byte();
  const std::size_t last = input.byte();
  std::vector<std::uint8_t> text = input.text();
  if (text.empty())
    return 0;
  const bool is_long = input.is_one_in(LONG_TEXT_INTERVAL);
  if (is_long)
    text = lengthened(text, first, last);
  const Utf8 source(text.data(), text.size(), tokenizer.classes());
  const Positions whole = check_split(tokenizer, source, kernels);
  if (is_long)
    check(reads_of(tokenizer, source, kernels) <=
              max_reads_per_code_point(stages) * text.size(),
          "the reads per byte are bounded");
  if (tokenizer.only() != nullptr)
    check_parts(*tokenizer.only(), text, text.size() * known_part / 255, whole);
  if (!tokenizer.removes())
    check_safe_cut(tokenizer, text, text.size() * known_part / 255, kernels, whole);
  return 0;
}
