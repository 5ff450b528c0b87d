#include "formats/pretok_file.hpp"

#include "core/split/presets.hpp"
#include "core/split/program.hpp"
#include "core/unicode/unicode.hpp"
#include "formats/crc32.hpp"
#include "formats/pretok_file_reader.hpp"
#include "formats/text_spec.hpp"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {
namespace {

constexpr char PRETOK_FILE_MAGIC[] = "\x89PRETOK\n";
// Lower versions were never released.
constexpr std::uint32_t PRETOK_FILE_VERSION = 4;
// The size of the header: magic, version, and the CRC-32 of all bytes after the header.
constexpr std::size_t PRETOK_FILE_HEADER = 16;

struct FileFlag {
  enum : std::uint32_t {
    FROM_RANKS = 1,
    IGNORE_MERGES = 2,
    STEPS = 4,
    ADD_PREFIX_SPACE = 8,
    OWN_PRESET = 16,
    TEXT = 32,
    TRIM_OFFSETS = 64, // only Python gives spans of tokens
    KEEP_FIRST_SPACE = 128,
    FACTS = 256,
    ALL = 511
  };
};
struct TokenFlag {
  enum : std::uint32_t {
    SPECIAL = 1,
    NORMALIZED = 2,
    LSTRIP = 4,
    RSTRIP = 8,
    SINGLE_WORD = 16,
    ALL = 31
  };
};

// The following functions read sections of the file. They return false after an error.

bool read_ids(PretokFileReader &reader, std::vector<std::uint32_t> &ids) {
  std::uint32_t count = 0;
  if (!reader.count(1, count))
    return false;
  ids.resize(count);
  return std::all_of(ids.begin(), ids.end(), [&](std::uint32_t &id) { return reader.id(id); });
}

bool read_stored_template(PretokFileReader &reader, TokenizerSpec &spec) {
  if (!read_ids(reader, spec.before) || !read_ids(reader, spec.after))
    return false;
  const std::size_t count = spec.before.size() + spec.after.size();
  return count <= MAX_TEMPLATE_IDS ||
         reader.fail("has a template of " + std::to_string(count) +
                     " ids, more than the maximum of " + std::to_string(MAX_TEMPLATE_IDS));
}

// Reads the program of a preset that is not built in: its stages and rules as a list of 32-bit
// words (core/split/program.hpp).
bool read_own_program(PretokFileReader &reader, TokenizerSpec &spec) {
  std::uint32_t count = 0;
  if (!reader.count(1, count))
    return false;
  spec.program.resize(count);
  for (std::uint32_t &word : spec.program)
    if (!reader.number(word))
      return false;
  std::vector<StageProgram> stages;
  const std::string error = read_stages(spec.program.data(), spec.program.size(), stages);
  if (!error.empty())
    return reader.fail("has a wrong program: " + error);
  std::string_view description; // of the pre-tokenizer; only Python shows it
  return reader.text(description);
}

// Reads the section `preset`. `is_own` says that the preset is not built in.
bool read_stored_split(PretokFileReader &reader, bool is_own, TokenizerSpec &spec) {
  std::string_view name;
  std::string_view unicode;
  if (!reader.text(name) || !reader.text(unicode))
    return false;
  if (unicode_table(unicode).size == 0) {
    reader.error() = unsupported("the file uses Unicode ", quote(unicode),
                                 ", which this version of pretok does not have; save the "
                                 "tokenizer again with a Unicode version that it has");
    return false;
  }
  spec.unicode = unicode;
  if (is_own)
    return read_own_program(reader, spec);
  const Preset *preset = find_preset(name);
  // A .pretok file stores the name of a preset, never an alias. find_preset accepts both, so
  // compare the names.
  if (preset != nullptr && name == preset->name)
    spec.preset = name;
  else
    spec.why_no_preset =
        "the file uses preset " + quote(name) + ", which this version of pretok does not have";
  return true;
}

bool read_added(PretokFileReader &reader, TokenizerSpec &spec) {
  std::uint32_t count = 0;
  if (!reader.count(3, count))
    return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    AddedToken token;
    std::string_view content;
    std::uint32_t flags = 0;
    if (!reader.text(content) || !reader.id(token.id) || !reader.number(flags))
      return false;
    if (flags > TokenFlag::ALL)
      return reader.fail("has an added token with unknown flags");
    token.content = content;
    token.normalized = (flags & TokenFlag::NORMALIZED) != 0;
    token.lstrip = (flags & TokenFlag::LSTRIP) != 0;
    token.rstrip = (flags & TokenFlag::RSTRIP) != 0;
    token.single_word = (flags & TokenFlag::SINGLE_WORD) != 0;
    token.special = (flags & TokenFlag::SPECIAL) != 0;
    spec.added.push_back(std::move(token));
  }
  return true;
}

bool read_contents(PretokFileReader &reader, TokenizerSpec &spec) {
  std::uint32_t flags = 0;
  if (!reader.number(flags))
    return false;
  if (flags > FileFlag::ALL)
    return reader.fail("has unknown flags");
  if ((flags & FileFlag::KEEP_FIRST_SPACE) != 0 && (flags & FileFlag::TRIM_OFFSETS) == 0)
    return reader.fail("has flag 128 without flag 64");
  if ((flags & FileFlag::TRIM_OFFSETS) != 0)
    spec.trims.push_back((flags & FileFlag::KEEP_FIRST_SPACE) != 0);
  const bool is_text = (flags & FileFlag::TEXT) != 0;
  spec.add_prefix_space = (flags & FileFlag::ADD_PREFIX_SPACE) != 0;
  spec.vocabulary.from_ranks = (flags & FileFlag::FROM_RANKS) != 0;
  spec.vocabulary.ignore_merges = (flags & FileFlag::IGNORE_MERGES) != 0;
  if (spec.vocabulary.from_ranks && !spec.vocabulary.ignore_merges)
    return reader.fail("has flag 1 (ranks) without flag 2 (ignore_merges)");
  if (spec.vocabulary.from_ranks && is_text)
    return reader.fail("has flag 1 (ranks) with flag 32 (text)");
  if (!read_stored_split(reader, (flags & FileFlag::OWN_PRESET) != 0, spec) ||
      !read_stored_template(reader, spec) || !read_added(reader, spec))
    return false;
  bool has_any_results = false; // whether a merge may make any token
  if (is_text && !read_text_options(reader, spec, has_any_results))
    return false;
  if ((flags & FileFlag::STEPS) != 0) {
    if (!read_steps_section(reader, spec))
      return false;
    if (spec.steps.empty() && !spec.metaspace && !spec.sentencepiece && !spec.decoder &&
        !spec.decoding)
      return reader.fail("has an empty section of steps");
  }
  if ((flags & FileFlag::FACTS) != 0 && !read_facts_section(reader, spec.facts))
    return false;
  if (!is_text && (spec.sentencepiece || spec.decoding))
    return reader.fail("has steps of SentencePiece, which need flag 32 (text)");
  if (is_text && !spec.decoder && !spec.decoding)
    return reader.fail("has no decoder");
  if (!is_text)
    use_nfc(spec);
  return read_tokens(reader, has_any_results, spec.vocabulary) &&
         (!is_text || finish_text(reader, spec));
}

} // namespace

bool is_pretok_file(const std::uint8_t *data, std::size_t size) {
  return size >= 8 && std::memcmp(data, PRETOK_FILE_MAGIC, 8) == 0;
}

LoadError read_pretok_file(const std::uint8_t *data, std::size_t size, TokenizerSpec &spec) {
  if (size < PRETOK_FILE_HEADER)
    return malformed("the file has ", size, " bytes, but its header takes ", PRETOK_FILE_HEADER,
                     "; the file is truncated");
  const std::uint32_t version = little_endian(data + 8, 4);
  if (version != 0 && version < PRETOK_FILE_VERSION)
    return unsupported(
        "this is a .pretok file of an unreleased version; save it again with this "
        "version");
  if (version != PRETOK_FILE_VERSION)
    return unsupported("expected version ", PRETOK_FILE_VERSION, " of the .pretok format, got ",
                       version, "; save the tokenizer again with this version of pretok");
  if (crc32(data + PRETOK_FILE_HEADER, size - PRETOK_FILE_HEADER) !=
      little_endian(data + 12, 4))
    return malformed("the CRC-32 of the file does not match its header; the file is damaged "
                     "or truncated, so get it again");
  PretokFileReader reader(data, size, PRETOK_FILE_HEADER);
  read_contents(reader, spec);
  return std::move(reader.error());
}

} // namespace pretok
