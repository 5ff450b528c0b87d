#include "formats/pretok_file.hpp"

#include "core/split/presets.hpp"
#include "core/split/program.hpp"
#include "core/unicode/unicode.hpp"
#include "formats/crc32.hpp"
#include "formats/pretok_file_reader.hpp"
#include "formats/pretok_file_tokens.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {
namespace {

constexpr char COMPACT_MAGIC[] = "\x89PRETOK\n";
constexpr std::uint32_t COMPACT_VERSION = 1;
constexpr std::size_t COMPACT_HEAD = 16; // magic, version, CRC-32 of all behind it

struct CompactFlag {
  enum : std::uint32_t {
    FROM_RANKS = 1,
    IGNORE_MERGES = 2,
    NFC = 4,
    ADD_PREFIX_SPACE = 8,
    OWN_PRESET = 16,
    ALL = 31
  };
};
struct CompactTokenFlag {
  enum : std::uint32_t {
    SPECIAL = 1,
    NORMALIZED = 2,
    LSTRIP = 4,
    RSTRIP = 8,
    SINGLE_WORD = 16,
    ALL = 31
  };
};

bool read_ids(CompactReader &reader, std::vector<std::uint32_t> &ids) {
  std::uint32_t count = 0;
  if (!reader.count(1, count))
    return false;
  ids.resize(count);
  return std::all_of(ids.begin(), ids.end(), [&](std::uint32_t &id) { return reader.id(id); });
}

bool read_own_program(CompactReader &reader, Model &model) {
  std::uint32_t count = 0;
  if (!reader.count(1, count))
    return false;
  model.program.resize(count);
  for (std::uint32_t &word : model.program)
    if (!reader.number(word))
      return false;
  std::vector<StageProgram> stages;
  const char *wrong = read_stages(model.program.data(), model.program.size(), stages);
  return wrong == nullptr || reader.wrong(std::string("has a split of its own: ") + wrong);
}

bool read_stored_split(CompactReader &reader, bool is_own, Model &model) {
  std::string_view name;
  std::string_view unicode;
  if (!reader.text(name) || !reader.text(unicode))
    return false;
  if (unicode_table(unicode).size == 0) {
    reader.fault() = unsupported("the file says Unicode " + shown(unicode) +
                                 ", of which there are no tables here");
    return false;
  }
  model.unicode = unicode;
  if (is_own)
    return read_own_program(reader, model);
  const Preset *found = find_preset(name);
  // By its name, not by an alias.
  if (found != nullptr && name == found->name)
    model.preset = name;
  else
    model.why_no_preset =
        "the file says preset " + shown(name) + ", which this version of pretok does not have";
  return true;
}

bool read_added(CompactReader &reader, Model &model) {
  std::uint32_t count = 0;
  if (!reader.count(3, count))
    return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    AddedToken token;
    std::string_view content;
    std::uint32_t flags = 0;
    if (!reader.text(content) || !reader.id(token.id) || !reader.number(flags))
      return false;
    if (flags > CompactTokenFlag::ALL)
      return reader.wrong("has an added token with unknown flags");
    token.content = content;
    token.normalized = (flags & CompactTokenFlag::NORMALIZED) != 0;
    token.lstrip = (flags & CompactTokenFlag::LSTRIP) != 0;
    token.rstrip = (flags & CompactTokenFlag::RSTRIP) != 0;
    token.single_word = (flags & CompactTokenFlag::SINGLE_WORD) != 0;
    model.added.push_back(std::move(token));
    model.added_special.push_back((flags & CompactTokenFlag::SPECIAL) != 0);
  }
  return true;
}

bool read_contents(CompactReader &reader, Model &model) {
  std::uint32_t flags = 0;
  if (!reader.number(flags))
    return false;
  if (flags > CompactFlag::ALL)
    return reader.wrong("has unknown flags");
  model.nfc = (flags & CompactFlag::NFC) != 0;
  model.add_prefix_space = (flags & CompactFlag::ADD_PREFIX_SPACE) != 0;
  model.vocabulary.from_ranks = (flags & CompactFlag::FROM_RANKS) != 0;
  model.vocabulary.ignore_merges = (flags & CompactFlag::IGNORE_MERGES) != 0;
  if (model.vocabulary.from_ranks && !model.vocabulary.ignore_merges)
    return reader.wrong("has ranks, but says that they do not count for whole tokens");
  return read_stored_split(reader, (flags & CompactFlag::OWN_PRESET) != 0, model) &&
         read_ids(reader, model.before) && read_ids(reader, model.after) &&
         read_added(reader, model) && read_tokens(reader, model.vocabulary);
}

} // namespace

bool is_compact(const std::uint8_t *data, std::size_t size) {
  return size >= 8 && std::memcmp(data, COMPACT_MAGIC, 8) == 0;
}

Fault read_compact(const std::uint8_t *data, std::size_t size, Model &model) {
  if (size < COMPACT_HEAD)
    return malformed("the file has " + std::to_string(size) +
                     " bytes, fewer than its head; it is cut off");
  const std::uint32_t version = little_endian(data + 8, 4);
  if (version != COMPACT_VERSION)
    return unsupported("this is version " + std::to_string(version) + " of the .pretok file; " +
                       std::to_string(COMPACT_VERSION) +
                       " is read, so save the tokenizer again with this version of pretok");
  if (crc32(data + COMPACT_HEAD, size - COMPACT_HEAD) != little_endian(data + 12, 4))
    return malformed("the file does not have the CRC-32 that it says; it is damaged or cut "
                     "off, so get it again");
  CompactReader reader(data, size, COMPACT_HEAD);
  read_contents(reader, model);
  return std::move(reader.fault());
}

Fault read_compact_tokens(const std::uint8_t *data, std::size_t size, std::size_t at,
                          VocabularyData &vocabulary) {
  CompactReader reader(data, size, at);
  read_tokens(reader, vocabulary);
  return std::move(reader.fault());
}

} // namespace pretok
