#include "formats/json_split.hpp"

#include "core/split/presets.hpp"
#include "core/unicode/utf8.hpp"
#include "formats/character_spec.hpp"
#include "formats/json_stages.hpp"
#include "formats/json_steps.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// A pre_tokenizer that splits like a built-in preset.
struct KnownSplit {
  std::string_view preset;
  bool drops_text;
  std::string_view parts; // of the pre_tokenizer, in the format of write_part
};

#include "formats/generated/pre_tokenizers.inc"

constexpr std::size_t MAX_DEPTH = 16;

// Appends a value to `to` in a canonical form: equal values give equal text. Returns false if
// the value contains something that no known pre_tokenizer contains: null, a fraction, or more
// than MAX_DEPTH levels of objects and lists. cpp/generate/presets.py writes the same form.
bool write_part(element value, std::string &to, std::size_t depth = 0) {
  object members;
  array items;
  std::string_view text;
  bool flag = false;
  std::int64_t number = 0;
  if (depth == MAX_DEPTH)
    return false;
  if (value.get(members) == simdjson::SUCCESS) {
    std::vector<std::pair<std::string_view, element>> sorted;
    for (const auto &[name, member] : members)
      sorted.emplace_back(name, member);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto &a, const auto &b) { return a.first < b.first; });
    to += '{';
    for (const auto &[name, member] : sorted) {
      to += std::to_string(name.size()) + ':';
      to += name;
      if (!write_part(member, to, depth + 1))
        return false;
    }
    to += '}';
  } else if (value.get(items) == simdjson::SUCCESS) {
    to += '[';
    for (const element item : items)
      if (!write_part(item, to, depth + 1))
        return false;
    to += ']';
  } else if (value.get(text) == simdjson::SUCCESS) {
    to += std::to_string(text.size()) + ':';
    to += text;
  } else if (value.get(flag) == simdjson::SUCCESS) {
    to += flag ? 'T' : 'F';
  } else if (value.get(number) == simdjson::SUCCESS) {
    to += '#' + std::to_string(number) + ';';
  } else {
    return false;
  }
  return true;
}

// Reads the members of a ByteLevel. Leaves `use_regex` unchanged if there is no such member.
// Returns false if the ByteLevel lacks any other member, or has an unknown member.
bool read_byte_level(const JsonPart &part, bool &add_prefix_space, bool &use_regex) {
  object members;
  bool trims = false;
  bool is_byte_level = part.value.get(members) == simdjson::SUCCESS &&
                       members["add_prefix_space"].get(add_prefix_space) == simdjson::SUCCESS &&
                       members["trim_offsets"].get(trims) == simdjson::SUCCESS;
  std::size_t member_count = 3;
  element member;
  if (is_byte_level && members["use_regex"].get(member) == simdjson::SUCCESS) {
    is_byte_level = member.get(use_regex) == simdjson::SUCCESS;
    member_count = 4;
  }
  return is_byte_level && members.size() == member_count;
}

} // namespace

// Finds a preset as read_split does. If `drops_text`, the preset may drop text.
static bool find_split(const JsonPart &file, bool drops_text, TokenizerSpec &spec,
                       LoadError &error) {
  JsonPart split;
  std::vector<JsonPart> parts;
  if (!file.get("pre_tokenizer", split, error) || !split.parts("pretokenizers", parts, error))
    return false;
  std::string written;
  bool add_prefix_space = false;
  spec.why_no_preset = "no built-in preset has the same pre_tokenizer as the file";
  std::string_view kind;
  if (parts.empty() || !parts.back().is_present)
    return true;
  if (!parts.back().kind(kind, error))
    return false;
  if (kind != "ByteLevel")
    return true;
  for (const JsonPart &part : parts) {
    bool use_regex = true;
    if (!part.is_present)
      return true;
    if (!part.kind(kind, error))
      return false;
    if (kind != "ByteLevel") {
      if (!write_part(part.value, written))
        return true;
      // With several parts, add_prefix_space may put a space before each piece, not only before
      // the text. pretok does not do this, so such a file gets no preset.
    } else if (!read_byte_level(part, add_prefix_space, use_regex) ||
               (add_prefix_space && parts.size() > 1)) {
      return true;
    } else {
      written += use_regex ? "BYTES+GPT2" : "BYTES";
    }
  }
  for (const KnownSplit &known : KNOWN_SPLITS)
    if (known.parts == written && (drops_text || !known.drops_text)) {
      spec.preset = known.preset;
      spec.why_no_preset.clear();
      spec.add_prefix_space = add_prefix_space;
      break;
    }
  return true;
}

bool read_split(const JsonPart &file, TokenizerSpec &spec, LoadError &error) {
  return find_split(file, false, spec, error);
}

StageProgram whole_stage() {
  StageProgram stage;
  Run all;
  all.body = 1;
  stage.program.alphabet = {{0, {}}};
  stage.program.rules = {all};
  return stage;
}

StageProgram metaspace_stage(std::string_view mark) {
  const auto *const bytes = reinterpret_cast<const std::uint8_t *>(mark.data());
  std::vector<std::uint32_t> marks = {' ', decode_utf8(bytes, mark.size()).code_point};
  std::sort(marks.begin(), marks.end());
  marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
  StageProgram stage;
  Alphabet &alphabet = stage.program.alphabet;
  alphabet.push_back({0, {}});
  for (const std::uint32_t each : marks) {
    if (alphabet.back().start == each)
      alphabet.pop_back();
    alphabet.push_back({each, {}});
    alphabet.back().class_map.fill(1);
    alphabet.push_back({each + 1, {}});
  }
  Run one;
  one.body = 2; // class 1
  one.at_most = 1;
  stage.program.rules = {one};
  stage.behavior = Behavior::MERGED_WITH_NEXT;
  return stage;
}

bool read_text_split(const JsonPart &file, TokenizerSpec &spec, LoadError &error) {
  spec.add_prefix_space = false;
  if (!find_split(file, true, spec, error))
    return false;
  if (!spec.preset.empty())
    return true;
  JsonPart split;
  std::vector<JsonPart> parts;
  if (!file.get("pre_tokenizer", split, error) || !split.parts("pretokenizers", parts, error))
    return false;
  SplitSpec found;
  found.table = unicode_table(json_unicode());
  bool needs_unicode = false;
  bool is_space_split = false; // whether the last stage splits at spaces
  const std::vector<std::uint32_t> gpt2 = find_preset("gpt2")->words();
  for (const JsonPart &part : parts) {
    std::string_view kind;
    std::string written;
    bool adds_space = false;
    bool use_regex = true;
    if (!part.is_present)
      continue;
    if (!part.kind(kind, error))
      return false;
    if (kind == "Metaspace" && !spec.metaspace) {
      MetaspaceSpec &metaspace = spec.metaspace.emplace();
      bool splits = true;
      if (!read_json_metaspace(part, metaspace, &splits, error))
        return false;
      if (!found.stages.empty())
        metaspace.before = std::exchange(found, {{}, found.table});
      if (splits)
        found.stages.push_back(metaspace_stage(metaspace.replacement));
    } else if (kind == "ByteLevel" && &part == &parts.back() &&
               read_byte_level(part, adds_space, use_regex) &&
               !(adds_space && parts.size() > 1)) {
      spec.add_prefix_space = adds_space;
      std::vector<StageProgram> stages;
      if (use_regex && read_stages(gpt2, stages).empty())
        found.stages.push_back(std::move(stages.front()));
      needs_unicode = needs_unicode || use_regex;
    } else if (write_part(part.value, written) && find_json_stage(written, found)) {
      // These splits have the pattern " ", which occurs in no text with marks in place of
      // spaces. So they keep the text whole, unless they drop what is no match.
      const StageProgram &stage = found.stages.back();
      is_space_split = kind == "Split" && !stage.invert;
      needs_unicode = needs_unicode || !is_space_split;
    } else {
      error =
          part.unsupported("only Python reads this part of a pre_tokenizer; load the file in "
                           "Python and save it: bpe.load(path).save(\"name.pretok\")");
      return false;
    }
  }
  if (found.stages.empty()) {
    found.stages.push_back(whole_stage());
    spec.split_at_marks = SplitAtMarks::NO;
  } else if (found.stages.size() == 1 && is_space_split) {
    spec.split_at_marks = SplitAtMarks::NO;
  } else if (found.stages.size() == 1 && spec.metaspace && !needs_unicode &&
             spec.metaspace->replacement == SPACE_MARK) {
    spec.split_at_marks = SplitAtMarks::YES;
  }
  spec.stages = std::move(found.stages);
  spec.unicode = needs_unicode ? json_unicode() : "";
  spec.why_no_preset.clear();
  return true;
}

} // namespace pretok
